/**
 * The simulated fabric, its devices and their verbs objects: each request is a message, executed at its target in
 * steps. Knows neither the nodes that run on the devices nor who chooses the order of steps.
 */
package io.verbena.rdma.sim.device;
