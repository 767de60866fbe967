import type { BuildContainerConfig } from '../parts.js';
export declare const buildContainerConfig: BuildContainerConfig;
//# sourceMappingURL=container-config.d.ts.map