/**
 * {@code verbena autoscale}: measures the demand on compute nodes, asks the policy, starts and ends nodes, and records
 * each decision. The policy itself is in the package below; processes are those of the package {@code cluster}.
 */
package io.verbena.cli.autoscale;
