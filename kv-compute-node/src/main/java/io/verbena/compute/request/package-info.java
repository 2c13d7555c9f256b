/**
 * Carries operations and scans from requests into the table engine, and answers back.
 */
package io.verbena.compute.request;
