/**
 * The demo: a cluster in this process, loaded, scaled and checked while a YCSB workload runs, and its report.
 * <p>
 * Owns the course of the run, what is measured and what is checked. Must not know how operations are carried out, nor
 * who reads the report.
 */
package io.verbena.load.demo;
