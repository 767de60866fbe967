/** Milliseconds that our own clients wait for an answer, and so the time that a server gives their requests. */
export const patience = 15_000;

/**
 * Limits of an HTTP server, in milliseconds. By default Node checks for late requests only every 30 s. A pause of this process counts as
 * lateness of its clients: Node looks at its timers before it reads what has come. So requests have as long as our own clients wait.
 */
export const requestLimits = {
  requestTimeout: patience,
  headersTimeout: patience,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
};
