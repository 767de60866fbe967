import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** `text.includes(':') ? 6 : 4` and the like. */
const familyByColon = {
  selector:
    "ConditionalExpression[test.callee.property.name='includes'][test.arguments.0.value=':'][consequent.value=/^(6|128)$/]",
  message: 'Take familyOf, and addressBits for its length, from @podwire/addresses.',
};

const abortListener = {
  selector: "CallExpression[callee.property.name='addEventListener'][arguments.0.value='abort']",
  message: 'Take onAbort, orAborted, withDeadline or Notify from @podwire/platform.',
};

export default tseslint.config(
  {
    ignores: ['**/dist/**', '**/node_modules/**', 'bin/podwire-cni.js', 'bench/results/**', '**/*.cjs'],
  },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      parserOptions: {
        projectService: true,
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    files: ['packages/**/src/**/*.ts', 'plugin/*.ts'],
    rules: { 'max-lines-per-function': ['error', { max: 60, IIFEs: true }] },
  },
  {
    // Address families have one home.
    files: ['packages/*/src/**/*.ts', 'packages/networks/*/src/**/*.ts'],
    ignores: ['packages/addresses/**', 'packages/engine/**'],
    rules: { 'no-restricted-syntax': ['error', familyByColon] },
  },
  {
    // So have listeners for an AbortSignal.
    files: ['packages/*/src/**/*.ts'],
    ignores: ['packages/platform/**'],
    rules: { 'no-restricted-syntax': ['error', familyByColon, abortListener] },
  },
  {
    // node:test returns a promise from `test()` that its runner awaits by itself.
    files: ['**/*.ns.test.ts', '**/*.system.test.ts', '**/*.kubernetes.test.ts'],
    rules: {
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            {
              from: 'package',
              package: 'node:test',
              name: ['test', 'it', 'describe', 'suite', 'before', 'after', 'beforeEach', 'afterEach'],
            },
          ],
        },
      ],
    },
  },
  {
    files: ['**/*.js', '**/*.mjs'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        Buffer: 'readonly',
        setTimeout: 'readonly',
        clearTimeout: 'readonly',
        setInterval: 'readonly',
        clearInterval: 'readonly',
        setImmediate: 'readonly',
        URL: 'readonly',
        AbortSignal: 'readonly',
        AbortController: 'readonly',
        performance: 'readonly',
      },
    },
  },
);
