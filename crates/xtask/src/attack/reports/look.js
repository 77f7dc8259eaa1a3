// What became of a page: run after `first`. It uses everything on the page that can be used, waits, and says what it found.
(async () => {
  const MARK = /zq\d+z/g;
  const marked = (text) => text.search(MARK) >= 0;
  const pause = (time) => new Promise((done) => setTimeout(done, time));
  const all = () => [...document.querySelectorAll("*")];
  const usable = "summary, button, td, th, [tabindex], [data-facet]";
  for (const node of [...document.querySelectorAll(usable)].slice(0, CLICKS)) if (!node.closest("form")) node.click();
  for (const type of ["mouseover", "focus", "pointerover", "keydown", "toggle"]) {
    for (const node of all().slice(0, 10 * CLICKS)) node.dispatchEvent(new Event(type, { bubbles: false }));
  }
  await pause(SETTLE);
  const found = [];
  // A page may have text in these; everywhere else, text of a peer does something.
  const harmless = /^(title|aria-label|alt|data-[a-z]+)$/;
  for (const node of all()) {
    const name = node.localName;
    if (marked(name)) found.push(`element ${name}`);
    for (const { name: attribute, value } of node.attributes) {
      const foreign = marked(attribute) || (!harmless.test(attribute) && marked(value));
      if (foreign || attribute.startsWith("on")) found.push(`${name} ${attribute}=${value.slice(0, 200)}`);
    }
    if ((name === "script" || name === "style") && marked(node.textContent)) {
      found.push(`${name}: ${node.textContent.match(MARK)}`);
    }
  }
  const others = NodeFilter.SHOW_COMMENT | NodeFilter.SHOW_CDATA_SECTION | NodeFilter.SHOW_PROCESSING_INSTRUCTION;
  const walker = document.createTreeWalker(document, others);
  while (walker.nextNode()) if (marked(walker.currentNode.data)) found.push(`comment ${walker.currentNode.data.match(MARK)}`);
  const text = document.documentElement.textContent;
  const hidden = text.match(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/);
  return { found, shown: [...new Set(text.match(MARK) ?? [])], hidden: hidden !== null, title: document.title };
})()
