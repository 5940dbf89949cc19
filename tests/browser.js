// What `browser.Look` has of the document that is open.
async ({ readable, contrast }) => {
  const all = [...document.querySelectorAll("*")];
  const short = (text) => (text.length > 60 ? text.slice(0, 60) + "…" : text);

  const elements = {};
  for (const { localName } of all) elements[localName] = (elements[localName] ?? 0) + 1;

  const hidden = [];
  const tables = [...document.querySelectorAll("table")];
  const pictures = [...document.querySelectorAll("img, body svg")];
  for (const element of [...tables, ...pictures]) {
    const box = element.getBoundingClientRect();
    const named = `${element.localName} ${short(element.alt ?? element.caption?.textContent ?? "")}`;
    if (box.width < 1 || box.height < 1 || !element.checkVisibility()) hidden.push(named);
    if (element.localName === "img") {
      await element.decode().catch(() => hidden.push(`${named}: not decoded`));
      if (element.naturalWidth === 0) hidden.push(`${named}: no width`);
    }
  }

  const channels = (color) => color.match(/[\d.]+/g).map(Number);
  const luminance = (color) => {
    const [red, green, blue] = channels(color).map((each) => {
      const share = each / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const { backgroundColor } = getComputedStyle(each);
      if (channels(backgroundColor)[3] !== 0) return backgroundColor;
    }
    return "rgb(255, 255, 255)";
  };

  const small = [];
  const faint = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.data.trim();
    const element = walker.currentNode.parentElement;
    if (!text || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    if (parseFloat(style.fontSize) < readable && !element.closest("sup, sub")) {
      small.push(`${style.fontSize}: ${short(text)}`);
    }
    const [dark, light] = [style.color, behind(element)].map(luminance).sort((a, b) => a - b);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < contrast) faint.push(`${ratio.toFixed(2)}: ${short(text)}`);
  }

  const active = [];
  for (const element of all) {
    if (element.matches("script, iframe, frame, object, embed, base, form, link, audio, video")) {
      active.push(element.localName);
    }
    for (const { name, value } of element.attributes) {
      if (name.startsWith("on") || name === "style") active.push(`${element.localName} ${name}`);
      const address = ["href", "src", "action", "xlink:href"].includes(name);
      if (address && /^\s*javascript:/i.test(value)) active.push(`${element.localName} ${name}=${short(value)}`);
    }
  }

  const disorder = [];
  let level = 0;
  for (const heading of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    const next = Number(heading.localName[1]);
    if (next > level + 1) disorder.push(`h${level}, then h${next}: ${short(heading.textContent)}`);
    level = next;
  }
  const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
  for (const id of new Set(ids)) {
    if (ids.filter((each) => each === id).length > 1) disorder.push(`two elements ${id}`);
  }
  for (const link of document.querySelectorAll("a[href]")) {
    const target = link.getAttribute("href");
    if (!target.startsWith("#") || !ids.includes(target.slice(1))) disorder.push(`link ${target}`);
  }

  const root = document.documentElement;
  return {
    elements,
    text: document.body.innerText,
    tables: tables.length,
    pictures: pictures.length,
    hidden,
    beyond: Math.max(root.scrollWidth, document.body.scrollWidth) - root.clientWidth,
    small,
    faint,
    active,
    disorder,
  };
}
