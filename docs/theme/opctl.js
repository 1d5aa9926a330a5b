// Browsers break lines after each hyphen; `--flag-name` stays in one piece.
document.addEventListener("DOMContentLoaded", () => {
  for (const code of document.querySelectorAll("main code")) {
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    const found = [];
    while (texts.nextNode()) found.push(texts.currentNode);
    for (const text of found) {
      const pieces = text.data.split(/([^\s=/]*-[^\s=/]*)/).map((piece, index) => {
        if (index % 2 === 0 || piece.length > 40) return piece;
        const whole = document.createElement("span");
        whole.className = "whole";
        whole.textContent = piece;
        return whole;
      });
      if (pieces.length > 1) text.replaceWith(...pieces);
    }
  }
});

// Diagrams have the theme of the book instead of that of the system.
document.addEventListener("DOMContentLoaded", () => {
  const root = document.documentElement;
  const paint = () => {
    const theme = ["ayu", "coal", "navy"].some((name) => root.classList.contains(name)) ? "dark" : "light";
    for (const image of document.querySelectorAll(".diagram img")) {
      image.src = `${image.src.split("#")[0]}#${theme}`;
    }
  };
  new MutationObserver(paint).observe(root, { attributes: true, attributeFilter: ["class"] });
  paint();
});
