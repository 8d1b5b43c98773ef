import path from 'node:path';
import * as vscode from 'vscode';

const diagnosticSource = 'graphleak';

// In the order in which they matter.
const memories = [
  { memory: 'device', label: 'GPU memory that grows', icon: 'flame' },
  { memory: 'host', label: 'Host memory that grows', icon: 'database' },
  { memory: 'peak', label: 'Higher peaks', icon: 'graph-line' },
] as const;

/** A finding, as the server has published it. */
export interface Finding {
  readonly uri: vscode.Uri;
  readonly diagnostic: vscode.Diagnostic;
}

/** What the server says about a finding beside its text; see docs/protocol.md. */
interface Data {
  readonly memory: (typeof memories)[number]['memory'];
  readonly fixes: readonly { readonly safety: 'safe' | 'unsafe' }[];
}

/** All findings that are known at the moment: of open files, and of others where they are checked. */
export function allFindings(): Finding[] {
  return vscode.languages
    .getDiagnostics()
    .flatMap(([uri, diagnostics]) =>
      diagnostics.filter((diagnostic) => dataOf(diagnostic) !== undefined).map((diagnostic) => ({ uri, diagnostic })),
    );
}

/** Whether a safe fix of a finding is known. */
export function hasSafeFix({ diagnostic }: Finding): boolean {
  return dataOf(diagnostic)?.fixes.some(({ safety }) => safety === 'safe') ?? false;
}

type Group = (typeof memories)[number] & { readonly findings: readonly Finding[] };
type Node = Group | Finding;

/** The findings of the workspace by the memory that grows, the worst ones first. */
export class Overview implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly #view: vscode.TreeView<Node>;
  readonly onDidChangeTreeData = this.#changed.event;

  constructor() {
    this.#view = vscode.window.createTreeView('graphleak.findings', { treeDataProvider: this, showCollapseAll: true });
  }

  dispose(): void {
    this.#view.dispose();
    this.#changed.dispose();
  }

  /** Shows the findings that are known now. */
  refresh(): void {
    this.#changed.fire(undefined);
  }

  getChildren(node?: Node): Node[] {
    if (node !== undefined) {
      return 'findings' in node ? [...node.findings] : [];
    }
    const findings = allFindings().toSorted(compare);
    return memories
      .map((group) => ({
        ...group,
        findings: findings.filter(({ diagnostic }) => dataOf(diagnostic)?.memory === group.memory),
      }))
      .filter((group) => group.findings.length > 0);
  }

  getTreeItem(node: Node): vscode.TreeItem {
    return 'findings' in node ? groupItem(node) : findingItem(node);
  }
}

function groupItem({ label, icon, memory, findings }: Group): vscode.TreeItem {
  const item = new vscode.TreeItem(label, vscode.TreeItemCollapsibleState.Expanded);
  item.id = memory;
  item.description = String(findings.length);
  item.iconPath = new vscode.ThemeIcon(icon);
  return item;
}

function findingItem({ uri, diagnostic }: Finding): vscode.TreeItem {
  const { line } = diagnostic.range.start;
  const file = vscode.workspace.asRelativePath(uri);
  const [sentence = ''] = diagnostic.message.split(/(?<=[.:]) /);
  // Several folders often have files of the same name.
  const several = (vscode.workspace.workspaceFolders?.length ?? 0) > 1;
  const item = new vscode.TreeItem(`${several ? file : path.posix.basename(uri.path)}:${line + 1}`);
  item.description = `${codeOf(diagnostic)} ${sentence.replaceAll('`', '')}`;
  item.tooltip = new vscode.MarkdownString(`${file}:${line + 1}\n\n${diagnostic.message}`);
  item.iconPath = severityIcon(diagnostic.severity);
  item.contextValue = 'finding';
  item.command = {
    command: 'vscode.open',
    title: 'Show',
    arguments: [uri, { selection: diagnostic.range } satisfies vscode.TextDocumentShowOptions],
  };
  return item;
}

function severityIcon(severity: vscode.DiagnosticSeverity): vscode.ThemeIcon {
  switch (severity) {
    case vscode.DiagnosticSeverity.Error:
      return new vscode.ThemeIcon('error', new vscode.ThemeColor('problemsErrorIcon.foreground'));
    case vscode.DiagnosticSeverity.Warning:
      return new vscode.ThemeIcon('warning', new vscode.ThemeColor('problemsWarningIcon.foreground'));
    case vscode.DiagnosticSeverity.Information:
    case vscode.DiagnosticSeverity.Hint:
      return new vscode.ThemeIcon('info', new vscode.ThemeColor('problemsInfoIcon.foreground'));
  }
}

function compare(a: Finding, b: Finding): number {
  return (
    a.diagnostic.severity - b.diagnostic.severity ||
    a.uri.path.localeCompare(b.uri.path) ||
    a.diagnostic.range.start.compareTo(b.diagnostic.range.start)
  );
}

/** The code of the rule of a finding. */
export function codeOf({ code }: vscode.Diagnostic): string {
  return String(typeof code === 'object' ? code.value : (code ?? ''));
}

/** The language client keeps what the server sends along with a diagnostic. */
function dataOf(diagnostic: vscode.Diagnostic): Data | undefined {
  return diagnostic.source === diagnosticSource && 'data' in diagnostic
    ? ((diagnostic.data as Data | undefined) ?? undefined)
    : undefined;
}
