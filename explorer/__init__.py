"""Between the model and the screen: selections, translations, figures, components. Never imports training code."""
