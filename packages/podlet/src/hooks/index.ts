export { createRunHook, type HookOptions, type HookTarget, type RunHook } from './run-hook.js';
