// Styles are bundled into a file of their own.
declare module '*.css';
