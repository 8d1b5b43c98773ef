import path from 'node:path';

/** A finding in a file of the traceback, as the server's diagnosis names it. */
export interface Suspect {
  /** Relative to the workspace folder, with slashes. */
  readonly path: string;
  readonly range: { readonly start: { readonly line: number; readonly column: number } };
}

/**
 * Makes links of the places that a diagnosis names as suspects.
 *
 * The server writes its Markdown for every reader. Which links work is a
 * property of the reader: the preview of VS Code opens no file URIs, but takes
 * paths that start at the first workspace folder.
 */
export function linkSuspects(
  markdown: string,
  suspects: readonly Suspect[],
  href: (suspect: Suspect) => string | undefined,
): string {
  const places = new Map<string, string>();
  for (const suspect of suspects) {
    const target = href(suspect);
    if (target !== undefined) {
      const { line, column } = suspect.range.start;
      places.set(escapeMarkdown(`${suspect.path}:${line}:${column}`), target);
    }
  }
  if (places.size === 0) {
    return markdown;
  }
  // With other characters around it, it would be another place.
  const anyPlace = new RegExp(`(?<![\\w./-])(?:${[...places.keys()].map(escapeRegExp).join('|')})(?!\\d)`, 'g');
  return markdown.replaceAll(anyPlace, (place) => `[${place}](${places.get(place) ?? ''})`);
}

/** The link to a place in a file, for a preview in a workspace with the given first folder. */
export function previewLink(firstFolder: string, file: string, line: number, column: number): string {
  const relative = path.posix.relative(firstFolder, file);
  // Parentheses would end the link.
  const encoded = encodeURI(relative).replaceAll(/[()?#]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
  return `/${encoded}#L${line},${column}`;
}

function escapeMarkdown(text: string): string {
  return text.replaceAll(/[\\`*_[\]<>#|]/g, '\\$&');
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}
