// Builds elements from text alone. Nothing on this page is ever parsed as markup, so a name that
// looks like a tag is shown as the letters it is made of.
/** Makes an element with its text, attributes, listeners and children. */
export function make(tag, options = {}, children = []) {
    const element = document.createElement(tag);
    if (options.class !== undefined)
        element.className = options.class;
    if (options.id !== undefined)
        element.id = options.id;
    if (options.text !== undefined)
        element.textContent = options.text;
    for (const [name, value] of Object.entries(options.attributes ?? {})) {
        element.setAttribute(name, value);
    }
    for (const [name, listener] of Object.entries(options.on ?? {})) {
        element.addEventListener(name, listener);
    }
    element.append(...children);
    return element;
}
/** The element with this id, or an error that names it: a page without it is broken. */
export function required(id) {
    const element = document.getElementById(id);
    if (element === null)
        throw new Error(`the page has no #${id}`);
    return element;
}
