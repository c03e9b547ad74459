"""The experiments. Any that is added to `EXPERIMENTS` is run by `python -m model.experiments`."""

from __future__ import annotations

from model.config import ConfigError, nearest
from model.experiments.recipe import Arm, Base, Experiment

# No snapshots and no resumable states: these runs take seconds, and are repeated rather than resumed.
_LEAN = "snapshots=0 save_every=100000"

REVERSE = Base("reverse", "reverse", "tiny", f"{_LEAN} eval_every=50 eval_sentences=160", splits=("long",))
RESTS = Base("rests", "reverse", "tiny", REVERSE.settings, rests=True)
SWAP = Base("swap", "adjective-swap", "tiny", f"{_LEAN} max_steps=200 gradient_accumulation_steps=1 eval_every=10")
REVERSE_POST = Base("reverse-post", "reverse", "tiny", f"{REVERSE.settings} norm_first=false")

# So few pairs that a model learns them by heart before it has the rule.
NUMBERS = Base(
    "number-words",
    "number-words",
    "tiny",
    f"{_LEAN} positions=rope dropout=0.1 max_steps=600 eval_every=50 eval_sentences=100",
    target=0.8,
    seeds=(1, 2, 3, 4, 5),
)

# Small and short enough for one core to make both runs in about half an hour: hence one seed, and a low target.
MULTI30K = Base(
    "multi30k",
    "multi30k-en-de",
    "small",
    f"{_LEAN} n_encoder_layers=2 n_decoder_layers=2 share_embeddings=all dropout=0.1 max_steps=1000 max_tokens=1536 "
    "gradient_accumulation_steps=1 learning_rate=3e-3 warmup_steps=150 label_smoothing=0.1 average_checkpoints=1 "
    "eval_every=200 eval_sentences=100 select_by=bleu",
    target=10.0,
    metric="bleu",
    seeds=(1,),
)
# The model that learned from the corpus alone goes on.
GOES_ON = Base(
    "multi30k-goes-on",
    "multi30k-de-en",
    "small",
    f"{_LEAN} norm_first=true dropout=0.2 share_embeddings=all max_positions=128 learning_rate=2e-3 warmup_steps=200 "
    "schedule=cosine max_steps=1500 average_checkpoints=5 eval_every=500 patience=0 eval_sentences=300 select_by=bleu",
    target=38.0,
    metric="bleu",
    precision="bf16",
    chain="multi30k-de-en",
    start="multi30k-de-en-alone",
)
# Two notebooks whose translations go wrong, rebuilt as far as this model goes.
PHRASES = Base(
    "phrases-512",
    "phrases-en-de",
    "tiny",
    f"{_LEAN} d_model=512 d_ff=2048 n_encoder_heads=8 n_decoder_heads=8 norm_first=false dropout=0.1 "
    "share_embeddings=none max_steps=30 max_tokens=2048 gradient_accumulation_steps=1 learning_rate=0.01 "
    "schedule=constant warmup_steps=0 beta2=0.999 epsilon=1e-8 clip_norm=0 eval_every=5",
)
NOTEBOOK_SWAP = Base(
    "swap-notebook",
    "adjective-swap",
    "tiny",
    f"{_LEAN} d_model=128 d_ff=256 n_encoder_layers=4 n_decoder_layers=4 layer_norm=scalar dropout=0.1 "
    "share_embeddings=none max_steps=20 max_tokens=4096 gradient_accumulation_steps=1 learning_rate=3e-4 "
    "schedule=constant warmup_steps=0 beta2=0.999 clip_norm=0 eval_every=2",
)

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "lstm-reverse",
            "Transformer or LSTM: reversing letters",
            "An LSTM with attention was the model before the Transformer. With the same number of parameters, how fast "
            "and how well does each learn to reverse letters, and what happens beyond the lengths in training?",
            REVERSE,
            (Arm("Transformer"), Arm("LSTM", preset="lstm-tiny")),
        ),
        Experiment(
            "lstm-swap",
            "Transformer or LSTM: adjective swap",
            "The same two models on sentences in which two words change places. All sentences have four words, so "
            "there is only one length: which model needs fewer updates?",
            SWAP,
            (Arm("Transformer"), Arm("LSTM", preset="lstm-tiny")),
        ),
        Experiment(
            "positions",
            "Which positions go beyond the trained lengths?",
            "Attention alone does not know the order of its words. Does it matter how positions are encoded (added to "
            "the embeddings, or put into self-attention as a rotation or a distance), and does any encoding still work "
            "beyond the longest string in training?",
            REVERSE,
            (
                Arm("sinusoidal"),
                Arm("learned", "positions=learned"),
                Arm("RoPE", "positions=rope"),
                Arm("ALiBi", "positions=alibi"),
                Arm("none", "positions=none"),
            ),
        ),
        Experiment(
            "norm",
            "Pre-norm or post-norm",
            "The paper normalises after each sublayer, most models since then before it. Which one learns faster here?",
            REVERSE,
            (Arm("pre-norm"), Arm("post-norm", "norm_first=false")),
        ),
        Experiment(
            "rests",
            "Where attention rests",
            "Large models park much of their attention on the first token, and single numbers of their vectors grow "
            "huge. Does a small encoder-decoder do so, too, with pre-norm or post-norm, and does a gate after "
            "attention change it?",
            RESTS,
            (
                Arm("pre-norm"),
                Arm("post-norm", "norm_first=false"),
                Arm("pre-norm, gate", "attention_gate=true"),
                Arm("post-norm, gate", "norm_first=false attention_gate=true"),
            ),
        ),
        Experiment(
            "scaling",
            "With or without ÷ √d_head",
            "Scores are divided by √d_head so that softmax does not begin saturated. What if they are not?",
            REVERSE,
            (Arm("divided by √d_head"), Arm("not divided", "scale_scores=false")),
        ),
        Experiment(
            "residual",
            "With or without residual connections",
            "Every sublayer adds its output to its input. What if it passes on only its output?",
            REVERSE,
            (Arm("with residuals"), Arm("without", "residual=false")),
        ),
        Experiment(
            "heads",
            "1, 2, 4 or 8 heads",
            "The same width, split into a few wide heads or many narrow ones: does their number matter?",
            REVERSE,
            (
                Arm("4 heads"),
                Arm("1 head", "n_encoder_heads=1 n_decoder_heads=1"),
                Arm("2 heads", "n_encoder_heads=2 n_decoder_heads=2"),
                Arm("8 heads", "n_encoder_heads=8 n_decoder_heads=8"),
            ),
        ),
        Experiment(
            "rate",
            "Warm-up or a constant rate",
            "The paper lets the learning rate rise first and fall afterwards. Is either needed, at the same highest "
            "rate?",
            REVERSE,
            (
                Arm("warm-up, cosine decay"),
                Arm("warm-up, 1/√step decay", "schedule=inverse_sqrt"),
                Arm("warm-up, then constant", "schedule=constant"),
                Arm("no warm-up, cosine decay", "warmup_steps=0"),
                Arm("constant from the start", "schedule=constant warmup_steps=0"),
            ),
        ),
        Experiment(
            "rate-post-norm",
            "Warm-up or a constant rate, with post-norm",
            "Post-norm models are said to need the warm-up more than pre-norm ones. Is that so here?",
            REVERSE_POST,
            (
                Arm("warm-up, cosine decay"),
                Arm("no warm-up, cosine decay", "warmup_steps=0"),
                Arm("constant from the start", "schedule=constant warmup_steps=0"),
            ),
        ),
        Experiment(
            "label-smoothing",
            "Label smoothing",
            "The paper moves a tenth of the target probability to the other tokens. What does that do to accuracy, and "
            "to the loss on new sentences?",
            SWAP,
            (
                Arm("none"),
                Arm("0.1, the paper's", "label_smoothing=0.1"),
                Arm("0.3", "label_smoothing=0.3"),
            ),
        ),
        Experiment(
            "dropout",
            "Dropout",
            "Dropout sets activations to 0 at random, to keep a model from memorising its training data. Does it help "
            "on numbers in words, of which 150 are in training and 749 in the test? And if more is dropped, also of "
            "the attention weights and inside the feed-forward layers?",
            NUMBERS,
            (
                Arm("0.1, the paper's"),
                Arm("none", "dropout=0"),
                Arm("0.3 there and inside", "dropout=0.3 attention_dropout=0.3 activation_dropout=0.3"),
            ),
        ),
        Experiment(
            "consistency",
            "One prediction from two noisy passes",
            "With few training pairs, a model learns them by heart. SimCut hides some tokens from a second pass, "
            "R-Drop lets dropout differ, and both ask for the same prediction twice. Does that help on numbers in "
            "words, of which 150 are in training and 749 in the test?",
            NUMBERS,
            (
                Arm("one pass"),
                Arm("SimCut", "consistency=simcut"),
                Arm("R-Drop", "consistency=rdrop consistency_weight=5"),
            ),
            reaches="SimCut",
        ),
        Experiment(
            "embedding-scale",
            "Embeddings × √d_model or not",
            "The paper multiplies embeddings by √d_model before positions are added. What if it does not?",
            REVERSE,
            (Arm("× √d_model"), Arm("× 1", "scale_embeddings=false")),
        ),
        Experiment(
            "notebook-phrases",
            "The classic first notebook",
            "In a notebook, a model of the paper's width that learned a few phrases at a constant rate of 0.01 for 30 "
            "updates answered nothing or nonsense. Its mask, its embeddings (times √length, about 3.3, instead of "
            "√d_model) or its rate: which single change makes it learn?",
            PHRASES,
            (
                Arm("rate 0.01"),
                Arm("rate 0.01, future open", "causal=false"),
                Arm("rate 0.01, embeddings × 3.3", "embedding_factor=3.3"),
                Arm("rate 0.0005", "learning_rate=5e-4"),
                Arm(
                    "rate 0.0005, warm-up, cosine decay, 45 updates",
                    "learning_rate=5e-4 warmup_steps=10 schedule=cosine max_steps=45",
                ),
            ),
            reaches="rate 0.0005, warm-up, cosine decay, 45 updates",
        ),
        Experiment(
            "notebook-swap",
            "Adjective swap as notebooks train it",
            "In a notebook (pre-norm, a layer norm of one scale and one shift, d_model 128, four layers, a constant "
            "rate of 3e-4, 20 epochs) the translations came out wrong. Rebuilt here with all sentences in one update, "
            "so 20 updates in all: are they still wrong, and what holds the model back?",
            NOTEBOOK_SWAP,
            (
                Arm("as described"),
                Arm("standard layer norm", "layer_norm=standard"),
                Arm("post-norm", "norm_first=false"),
                Arm("no dropout", "dropout=0"),
                Arm("rate 0.002", "learning_rate=2e-3"),
                Arm("20 epochs of small batches", "max_tokens=320 max_steps=140"),
            ),
            reaches="20 epochs of small batches",
        ),
        Experiment(
            "lstm-multi30k",
            "Transformer or LSTM: Multi30k",
            "Short runs with one seed, stopped long before either model stops improving; the Multi30k models that "
            "come with Headlight are larger and had many times as many updates. With the same number of parameters, "
            "which of the two translates descriptions of photographs from English into German better after 1,000 "
            "small updates?",
            MULTI30K,
            (Arm("Transformer"), Arm("LSTM", "d_model=150 n_decoder_layers=1", preset="lstm-tiny")),
            reads_corpus=True,
        ),
        # Nguyen, Joty, Wu and Aw 2020, "Data Diversification: A Simple Strategy For Neural Machine Translation", §3.1.
        Experiment(
            "diversification",
            "Data made by models of both directions",
            "Two models, one of each direction, learned from Multi30k alone and translated its training sentences "
            "(data diversification: Nguyen, Joty, Wu and Aw 2020). The one from German goes on for 1,500 updates. Does "
            "it translate better with these pairs than with the corpus alone?",
            GOES_ON,
            (Arm("the corpus alone"), Arm("with pairs of both directions", added=("ende.jsonl", "deen.jsonl"))),
            reads_corpus=True,
        ),
    )
}


def get_experiment(name: str) -> Experiment:
    """The experiment of this name.

    Raises:
        ConfigError: there is none; the nearest is named.
    """
    if name not in EXPERIMENTS:
        raise ConfigError(f"there is no experiment '{name}'{nearest(name, EXPERIMENTS)}")
    return EXPERIMENTS[name]
