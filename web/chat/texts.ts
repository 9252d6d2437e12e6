// What the page itself says, in the customer's language. English is written here; the other sentences come with the page.

interface Language {
  readonly sentences: Readonly<Record<string, string>>;
}

const ENGLISH: Language = { sentences: {} };

function ofPage(): Language {
  const element = typeof document === "undefined" ? null : document.getElementById("sentences");
  if (element === null) return ENGLISH;
  return JSON.parse(element.textContent ?? "") as Language;
}

const language = ofPage();

/** A sentence in the page's language, with its values put in. */
export function t(english: string, values: Readonly<Record<string, string | number>> = {}): string {
  const sentence = Object.hasOwn(language.sentences, english) ? (language.sentences[english] ?? english) : english;
  return sentence.replace(/\{(\w+)\}/g, (whole, name: string) => (Object.hasOwn(values, name) ? String(values[name]) : whole));
}
