package io.verbena.rdma.sim.device;

import io.verbena.rdma.verbs.DeviceAddress;

/**
 * Where a request of a UD queue pair or a DC initiator goes.
 *
 * @param device    of the target.
 * @param number    of the queue pair or DC target there.
 * @param accessKey of a DC target; the queue key for UD.
 */
record SimDestination(DeviceAddress device, int number, long accessKey)
{
}
