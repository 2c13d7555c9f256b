/**
 * Whether a machine is fit for a cluster: its limits, memory, clocks, processors and devices, as the kernel's files
 * show them. It knows nothing of a cluster.
 */
package io.verbena.cli.doctor;
