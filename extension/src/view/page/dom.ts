// Builds the page. Text is always set as text: what a log says is never read as
// markup.

type Child = Node | string | undefined;

interface Properties {
  readonly class?: string;
  readonly id?: string;
  readonly type?: string;
  readonly title?: string;
  readonly role?: string;
  readonly label?: string;
  readonly labelledBy?: string;
  readonly hidden?: boolean;
  readonly onClick?: () => void;
}

/** Makes an element with what is in it. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Properties,
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  const { class: className, id, type, title, role, label, labelledBy, hidden, onClick } = properties;
  set(element, { class: className, id, type, title, role, 'aria-label': label, 'aria-labelledby': labelledBy });
  if (hidden === true) {
    element.setAttribute('aria-hidden', 'true');
  }
  if (onClick !== undefined) {
    element.addEventListener('click', onClick);
  }
  element.append(...children.filter((child) => child !== undefined));
  return element;
}

/** Makes an element of a drawing. */
export function svg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string | number | undefined>>,
  ...children: readonly Child[]
): SVGElementTagNameMap[Tag] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  set(element, attributes);
  element.append(...children.filter((child) => child !== undefined));
  return element;
}

function set(element: Element, attributes: Readonly<Record<string, string | number | undefined>>): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) {
      element.setAttribute(name, String(value));
    }
  }
}

/** A part of the page with a heading. Without content there is none. */
export function section(id: string, heading: string, ...children: readonly Child[]): HTMLElement | undefined {
  if (children.every((child) => child === undefined)) {
    return undefined;
  }
  const headingId = `${id}-heading`;
  return h('section', { id, labelledBy: headingId }, h('h2', { id: headingId }, heading), ...children);
}

/** A button that reads like a link. */
export function link(text: string, title: string, onClick: () => void): HTMLButtonElement {
  return h('button', { type: 'button', class: 'link', title, onClick }, text);
}

/** A sentence of the server, in which back quotes mark code. */
export function prose(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  const pieces = text.split('`');
  // An odd number of marks is no markup.
  if (pieces.length % 2 === 0) {
    fragment.append(text);
    return fragment;
  }
  pieces.forEach((piece, index) => {
    if (piece !== '') {
      fragment.append(index % 2 === 1 ? h('code', {}, piece) : piece);
    }
  });
  return fragment;
}
