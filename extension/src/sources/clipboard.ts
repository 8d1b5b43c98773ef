import * as vscode from 'vscode';
import type { TextSource } from '../diagnosis';

/** The text on the clipboard. */
export async function clipboard(): Promise<TextSource> {
  return { kind: 'text', name: 'the clipboard', text: await vscode.env.clipboard.readText() };
}

/**
 * What a command of the editor copies. Some texts can be had in no other way;
 * what the user had on the clipboard is there again afterwards.
 */
export async function copiedBy(command: string): Promise<string> {
  const { clipboard } = vscode.env;
  const before = await clipboard.readText();
  await clipboard.writeText('');
  try {
    await vscode.commands.executeCommand(command);
    return await clipboard.readText();
  } finally {
    await clipboard.writeText(before);
  }
}
