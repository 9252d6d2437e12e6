// Builds elements from text alone. A reply is never parsed as markup: what looks like a tag, a link or a
// button is shown as the letters it is made of.

/** What an element may be given when it is made. */
export interface Options {
  readonly class?: string;
  readonly text?: string;
  readonly attributes?: Readonly<Record<string, string>>;
}

/** Makes an element with its text, attributes and children. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  options: Options = {},
  children: readonly Node[] = [],
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (options.class !== undefined) element.className = options.class;
  if (options.text !== undefined) element.textContent = options.text;
  for (const [name, value] of Object.entries(options.attributes ?? {})) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** The element with this id and of this kind; a page without it is broken. */
export function required<T extends HTMLElement>(id: string, kind: new () => T): T {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`the page has no #${id}`);
  return element;
}
