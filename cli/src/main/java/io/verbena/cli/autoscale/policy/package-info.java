/**
 * How many compute nodes a demand needs, and when to change their number. Pure: knows no process, file or clock; the
 * caller gives the time and what was measured.
 */
package io.verbena.cli.autoscale.policy;
