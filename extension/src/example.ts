import * as vscode from 'vscode';

/** Opens a fresh copy of the example project in a window of its own. */
export async function openExample({ extensionUri, globalStorageUri }: vscode.ExtensionContext): Promise<void> {
  const source = vscode.Uri.joinPath(extensionUri, 'testdata', 'example');
  const copy = vscode.Uri.joinPath(globalStorageUri, 'example');
  await vscode.workspace.fs.createDirectory(globalStorageUri);
  await vscode.workspace.fs.copy(source, copy, { overwrite: true });
  await vscode.commands.executeCommand('vscode.openFolder', copy, { forceNewWindow: true });
}
