/**
 * The commands on records: one at a time, scans, and files of them.
 */
package io.verbena.cli.record;
