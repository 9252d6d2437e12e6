// Builds elements from text alone. A reply is never parsed as markup: what looks like a tag, a link or a
// button is shown as the letters it is made of.
/** Makes an element with its text, attributes and children. */
export function make(tag, options = {}, children = []) {
    const element = document.createElement(tag);
    if (options.class !== undefined)
        element.className = options.class;
    if (options.text !== undefined)
        element.textContent = options.text;
    for (const [name, value] of Object.entries(options.attributes ?? {}))
        element.setAttribute(name, value);
    element.append(...children);
    return element;
}
/** The element with this id and of this kind; a page without it is broken. */
export function required(id, kind) {
    const element = document.getElementById(id);
    if (!(element instanceof kind))
        throw new Error(`the page has no #${id}`);
    return element;
}
