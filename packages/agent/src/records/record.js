/** Bytes of a key that is part of a file name in every phase (NAME_MAX of limits.h is 255). */
export const longestKey = 255 - '.removing'.length;
//# sourceMappingURL=record.js.map