/**
 * Several hosts on one machine, for trials: network namespaces joined by a switch that cuts links and loses frames.
 */
package io.verbena.cli.hosts;
