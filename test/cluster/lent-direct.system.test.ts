import { defineLentCases } from './scene/lent-cases.js';

defineLentCases('direct');
