import * as vscode from 'vscode';

const missing =
  'Graphleak does not run in a browser alone. It has to start a program on the machine that has the files, and here ' +
  'is none: nothing is checked, and no log can be diagnosed. It works in VS Code on a computer, and in a browser that ' +
  'is connected to one: Codespaces, a tunnel, code-server.';

/**
 * What is left of the extension in a browser without a machine behind it, where
 * no server can be started: it says so, in the status bar and on each command.
 */
export function activate({ extension, extensionUri, subscriptions }: vscode.ExtensionContext): void {
  const item = vscode.window.createStatusBarItem('server', vscode.StatusBarAlignment.Right, 100);
  item.name = 'Graphleak';
  item.text = '$(circle-slash) Graphleak';
  item.tooltip = missing;
  item.accessibilityInformation = { label: missing, role: 'button' };
  item.command = 'graphleak.showOutput';
  item.show();
  const explain = async () => {
    const read = 'Read More';
    if ((await vscode.window.showInformationMessage(missing, read)) === read) {
      await vscode.commands.executeCommand(
        'markdown.showPreview',
        vscode.Uri.joinPath(extensionUri, 'docs', 'editor.md'),
      );
    }
  };
  const { contributes } = extension.packageJSON as Manifest;
  subscriptions.push(
    item,
    ...contributes.commands.map(({ command }) => vscode.commands.registerCommand(command, explain)),
  );
  void vscode.commands.executeCommand('setContext', 'graphleak.withoutServer', true);
}

interface Manifest {
  readonly contributes: { readonly commands: readonly { readonly command: string }[] };
}
