// Copies the address of this page, which always says what is on screen.
export default function ({ parentElement: root }) {
  const button = root.querySelector("button");
  const said = root.querySelector("output");
  button.onclick = async () => {
    const link = window.location.href;
    let copied = true;
    try {
      await navigator.clipboard.writeText(link);
    } catch {
      // No clipboard without https or localhost: select the text in a field and let the browser copy that.
      const field = document.createElement("textarea");
      field.value = link;
      field.style.position = "fixed";
      field.style.opacity = "0";
      document.body.appendChild(field);
      field.select();
      copied = document.execCommand("copy");
      field.remove();
    }
    said.textContent = copied ? "Copied: it opens this translation and this view." : "Copy it from the address bar.";
    clearTimeout(root.copyTimer);
    root.copyTimer = setTimeout(() => (said.textContent = ""), 4000);
  };
  return () => clearTimeout(root.copyTimer);
}
