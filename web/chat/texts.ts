// What the page itself says, in the customer's language. English is written here; the other sentences come with the page.

interface Language {
  readonly group: string;
  readonly point: string;
  readonly sentences: Readonly<Record<string, string>>;
}

const ENGLISH: Language = { group: ",", point: ".", sentences: {} };

function ofPage(): Language {
  const element = typeof document === "undefined" ? null : document.getElementById("sentences");
  if (element === null) return ENGLISH;
  return JSON.parse(element.textContent ?? "") as Language;
}

const language = ofPage();

/** How amounts are written: what stands between thousands, and before decimals. */
export const MARKS = { group: language.group, point: language.point } as const;

/** A sentence in the page's language, with its values put in. */
export function t(english: string, values: Readonly<Record<string, string | number>> = {}): string {
  const sentence = Object.hasOwn(language.sentences, english) ? (language.sentences[english] ?? english) : english;
  return sentence.replace(/\{(\w+)\}/g, (whole, name: string) => (Object.hasOwn(values, name) ? String(values[name]) : whole));
}
