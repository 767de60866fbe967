import { defineLentCases } from './support/lent-cases.js';

defineLentCases('vxlan');
