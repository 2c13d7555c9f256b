/**
 * Measurements of verbs for the {@code verbena bench} commands: how fast the simulator is, what it predicts of
 * real devices, and what verbs on {@code soft} cost over bare memory. Knows neither the command line nor files of
 * results.
 */
package io.verbena.load.verbs;
