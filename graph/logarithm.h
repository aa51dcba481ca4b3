/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The natural logarithm, made of + - * / alone, so that its bits are the same on every machine: the
 * C library's differ between versions and CPUs.
 *
 * Thread rules: pure.
 */
#ifndef GRAPH_LOGARITHM_H
#define GRAPH_LOGARITHM_H

/* log(x) of a positive, finite, normal x. The relative error is below 2^-51 (4.5e-16); log(1) is 0.
 */
double logarithm(double x);

#endif
