package io.verbena.raas.directory;

import io.verbena.raas.PeerAddress;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.rdma.verbs.DeviceAddress;

/**
 * What anyone needs to reach a node.
 *
 * @param nodeId      1 to 65,535.
 * @param incarnation number of the node's life, 1 or more.
 * @param epoch       of the membership view in which it joined.
 * @param role        what it does.
 * @param device      address of its device.
 * @param servicePort where it listens; 0 when it does not.
 * @param region      the memory it grants; length 0 when none.
 * @param readTarget  through which the region can be read before connecting; NONE when only after.
 * @param tcpService  where it serves clients of Redis as a part of a cluster; NONE when it does not.
 * @param sparePort   of a compute node that is a spare: where it listens, although no request is to be sent to it yet;
 *                    0 for all others, and from meta servers of builds that do not say it.
 */
public record PeerRecord(
    int nodeId,
    int incarnation,
    long epoch,
    NodeRole role,
    DeviceAddress device,
    int servicePort,
    RemoteRegion region,
    ReadTargetAddress readTarget,
    TcpAddress tcpService,
    int sparePort)
{
    /** Of a node that is no spare. */
    public PeerRecord(
        final int nodeId,
        final int incarnation,
        final long epoch,
        final NodeRole role,
        final DeviceAddress device,
        final int servicePort,
        final RemoteRegion region,
        final ReadTargetAddress readTarget,
        final TcpAddress tcpService)
    {
        this(nodeId, incarnation, epoch, role, device, servicePort, region, readTarget, tcpService, 0);
    }

    /** Of a node that serves nobody over TCP, and that nobody reads before connecting. */
    public PeerRecord(
        final int nodeId,
        final int incarnation,
        final long epoch,
        final NodeRole role,
        final DeviceAddress device,
        final int servicePort,
        final RemoteRegion region)
    {
        this(nodeId, incarnation, epoch, role, device, servicePort, region, ReadTargetAddress.NONE);
    }

    /** Of a node that serves nobody over TCP. */
    public PeerRecord(
        final int nodeId,
        final int incarnation,
        final long epoch,
        final NodeRole role,
        final DeviceAddress device,
        final int servicePort,
        final RemoteRegion region,
        final ReadTargetAddress readTarget)
    {
        this(nodeId, incarnation, epoch, role, device, servicePort, region, readTarget, TcpAddress.NONE);
    }

    /**
     * @param newEpoch replaces the present one.
     * @return a copy.
     */
    public PeerRecord withEpoch(final long newEpoch)
    {
        return new PeerRecord(
            nodeId, incarnation, newEpoch, role, device, servicePort, region, readTarget, tcpService, sparePort);
    }

    /** @return a copy by which clients may connect to a node, and send nothing to it. */
    public PeerRecord asSpare()
    {
        return new PeerRecord(
            nodeId, incarnation, epoch, role, device, 0, region, readTarget, TcpAddress.NONE, servicePort);
    }

    /** @return how to connect. */
    public PeerAddress address()
    {
        return new PeerAddress(device, servicePort, nodeId, incarnation);
    }

    /** @return how to connect to a spare. */
    public PeerAddress spareAddress()
    {
        return new PeerAddress(device, sparePort, nodeId, incarnation);
    }

    /** @return who it is. */
    public PeerIdentity identity()
    {
        return new PeerIdentity(nodeId, incarnation);
    }
}
