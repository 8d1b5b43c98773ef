import * as vscode from 'vscode';

/** The scheme of the pages about rules and failures. */
export const pageScheme = 'graphleak-page';

/** Where the page about a topic is in the editor. */
export function pageUri(topic: string): vscode.Uri {
  return vscode.Uri.from({ scheme: pageScheme, path: `/${topic}.md` });
}

/** The topic of a page. */
export function topicOf({ path }: vscode.Uri): string {
  return path.slice(1).replace(/\.md$/, '');
}

/**
 * A page whose links lead to other pages in the editor. They are relative: the
 * preview of Markdown follows no other scheme than those of the web.
 */
export function linkedPage(markdown: string): string {
  return (
    markdown
      .trim()
      // An address without a scheme is that of a page beside this one.
      .replaceAll(/(?<=\]\()(?![a-z][a-z0-9+.-]*:|#)[^)\s]+(?=\))/gi, (target) => `${topicAt(target)}.md`)
  );
}

/** The topic of the page at a relative address: a page has the name of its topic, or lies in a folder that has it. */
function topicAt(target: string): string {
  return target
    .replace(/#.*$/, '')
    .replace(/(?:\/doc)?\.md$/, '')
    .replace(/^.*\//, '');
}
