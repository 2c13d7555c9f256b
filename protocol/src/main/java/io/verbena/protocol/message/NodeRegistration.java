package io.verbena.protocol.message;

import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.directory.TcpAddress;
import io.verbena.rdma.verbs.DeviceAddress;

/**
 * What a node says of itself when it registers.
 *
 * @param nodeId      number it had in an earlier life, kept on its disk; 0 for a new node.
 * @param role        what it does.
 * @param device      address of its device.
 * @param servicePort where it listens; 0 when it does not.
 * @param region      memory it grants; length 0 when none.
 * @param memoryId    of a memory node: random number of the memory itself, kept with it; whoever brings it has it
 *                    alone, and has cut everybody off from it. 0 for none.
 * @param clusterId   of the cluster that the memory belongs to; 0 for none yet.
 * @param readTarget  of a memory node: through which its region can be read before connecting; NONE when only after.
 * @param tcpService  of a compute node: where it serves clients of Redis as a part of a cluster; NONE when it does not.
 * @param isSpare     of a compute node: whether clients are not to be sent to it before it is activated.
 * @param certificate number of that by which its connection has joined; 0 for none. The server sets it: it is in no
 *                    message.
 * @param failureDomain of a memory node: label of what it shares with nodes that are lost together with it; NONE when
 *                    it is a failure domain of its own.
 */
public record NodeRegistration(
    int nodeId,
    NodeRole role,
    DeviceAddress device,
    int servicePort,
    RemoteRegion region,
    long memoryId,
    long clusterId,
    ReadTargetAddress readTarget,
    TcpAddress tcpService,
    boolean isSpare,
    int certificate,
    String failureDomain)
{
    /** As a message says it. */
    public NodeRegistration(
        final int nodeId,
        final NodeRole role,
        final DeviceAddress device,
        final int servicePort,
        final RemoteRegion region,
        final long memoryId,
        final long clusterId,
        final ReadTargetAddress readTarget,
        final TcpAddress tcpService,
        final boolean isSpare)
    {
        this(nodeId, role, device, servicePort, region, memoryId, clusterId, readTarget, tcpService, isSpare, 0,
            FailureDomain.NONE);
    }

    /** Of a node that is no spare. */
    public NodeRegistration(
        final int nodeId,
        final NodeRole role,
        final DeviceAddress device,
        final int servicePort,
        final RemoteRegion region,
        final long memoryId,
        final long clusterId,
        final ReadTargetAddress readTarget,
        final TcpAddress tcpService)
    {
        this(nodeId, role, device, servicePort, region, memoryId, clusterId, readTarget, tcpService, false);
    }

    /** Of a node that brings no memory of before, and serves nobody over TCP. */
    public NodeRegistration(
        final int nodeId,
        final NodeRole role,
        final DeviceAddress device,
        final int servicePort,
        final RemoteRegion region)
    {
        this(nodeId, role, device, servicePort, region, 0, 0, ReadTargetAddress.NONE);
    }

    /** Of a node that serves nobody over TCP. */
    public NodeRegistration(
        final int nodeId,
        final NodeRole role,
        final DeviceAddress device,
        final int servicePort,
        final RemoteRegion region,
        final long memoryId,
        final long clusterId,
        final ReadTargetAddress readTarget)
    {
        this(nodeId, role, device, servicePort, region, memoryId, clusterId, readTarget, TcpAddress.NONE);
    }

    /**
     * @param number of a certificate; 0 for none.
     * @return the same of a node that has joined by it.
     */
    public NodeRegistration byCertificate(final int number)
    {
        return new NodeRegistration(nodeId, role, device, servicePort, region, memoryId, clusterId, readTarget,
            tcpService, isSpare, number, failureDomain);
    }

    /**
     * @param label of a failure domain, or NONE.
     * @return the same of a memory node that is in it.
     */
    public NodeRegistration inFailureDomain(final String label)
    {
        return new NodeRegistration(nodeId, role, device, servicePort, region, memoryId, clusterId, readTarget,
            tcpService, isSpare, certificate, label);
    }
}
