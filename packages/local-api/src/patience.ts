/** Milliseconds that our own clients wait for an answer, and so the time that a server gives their requests. */
export const patience = 15_000;
