package io.verbena.raas;

import io.verbena.raas.batch.StagedBatch;
import io.verbena.raas.region.TenantRegion;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;

/**
 * What each request is checked for before it is posted, one for each context: local memory of this context and within
 * its region, remote memory granted with the right that is needed, length, alignment of atomics. One condition covers
 * all checks; which of them failed is found out only when one did.
 */
final class RequestChecks
{
    private final ProtectionDomain domain;
    private final int maxMessageBytes;

    /**
     * @param domain          of the context: local memory is registered there.
     * @param maxMessageBytes longest request.
     */
    RequestChecks(final ProtectionDomain domain, final int maxMessageBytes)
    {
        this.domain = domain;
        this.maxMessageBytes = maxMessageBytes;
    }

    boolean allows(
        final PeerGrants grants, final int opcode, final int right, final TenantRegion region, final long localOffset,
        final int lengthBytes, final RemoteRegion remote, final long remoteOffset)
    {
        final long remoteAddress = remote.address() + remoteOffset;
        return region.domain == domain &&
            region.isOpen() &&
            (opcode == StagedBatch.WRITE || (region.accessFlags & AccessFlags.LOCAL_WRITE) != 0) &&
            lengthBytes >= 0 &&
            lengthBytes <= maxMessageBytes &&
            localOffset >= 0 &&
            localOffset <= region.lengthBytes - lengthBytes &&
            remoteOffset >= 0 &&
            remoteOffset <= remote.lengthBytes() - lengthBytes &&
            grants.covers(remoteAddress, lengthBytes, remote.remoteKey(), right) &&
            (right != AccessFlags.REMOTE_ATOMIC ||
                (remoteAddress & Long.BYTES - 1) == 0 && (region.address + localOffset & Long.BYTES - 1) == 0);
    }

    /**
     * Makes requests that were checked before ready for another queue pair to the same peer: those that went over DC
     * get the key that was granted for the same region.
     *
     * @return whether the peer grants all of them.
     */
    boolean redirect(final StagedBatch batch, final RemoteRegion published, final PeerGrants grants)
    {
        final RemoteRegion granted = grants.inPlaceOf(published);
        for (int i = 0; i < batch.count(); i++)
        {
            final long offset = batch.remoteAddress(i) - published.address();
            if (batch.remoteKey(i) == published.remoteKey() && offset >= 0 &&
                offset <= published.lengthBytes() - batch.lengthBytes(i))
            {
                batch.redirect(i, granted.address() + offset, granted.remoteKey());
            }
            if (!grants.covers(
                batch.remoteAddress(i), batch.lengthBytes(i), batch.remoteKey(i), right(batch.opcode(i))))
            {
                return false;
            }
        }
        return true;
    }

    private static int right(final int opcode)
    {
        return opcode == StagedBatch.READ ? AccessFlags.REMOTE_READ :
            opcode == StagedBatch.WRITE ? AccessFlags.REMOTE_WRITE : AccessFlags.REMOTE_ATOMIC;
    }

    /** Says which check a request failed. */
    String violation(
        final PeerGrants grants,
        final int opcode,
        final int right,
        final MemoryRegion local,
        final long localOffset,
        final int lengthBytes,
        final RemoteRegion remote,
        final long remoteOffset,
        final StagedBatch staged)
    {
        final String request = String.format(
            "%s of %d bytes, local offset %d, remote offset %d",
            StagedBatch.name(opcode),
            lengthBytes,
            localOffset,
            remoteOffset);
        if (staged.count() >= staged.capacity())
        {
            return request + ": a batch takes " + staged.capacity() +
                " requests (RaasConfiguration.maxBatchRequests): complete() earlier";
        }
        if (lengthBytes < 0 || lengthBytes > maxMessageBytes)
        {
            return request + ": the length must be 0 to " + maxMessageBytes;
        }
        final String localViolation = localViolation(opcode, local, localOffset, lengthBytes);
        if (localViolation != null)
        {
            return request + ": " + localViolation;
        }
        if (remoteOffset < 0 || remoteOffset > remote.lengthBytes() - lengthBytes)
        {
            return request + ": outside of the remote region of " + remote.lengthBytes() + " bytes";
        }
        final long remoteAddress = remote.address() + remoteOffset;
        if (!grants.covers(remoteAddress, lengthBytes, remote.remoteKey(), right))
        {
            return String.format(
                "%s: the peer did not grant right %d on address 0x%x with key 0x%x; it granted %s",
                request,
                right,
                remoteAddress,
                remote.remoteKey(),
                grants);
        }
        return String.format(
            "%s: an atomic needs addresses aligned to 8: remote 0x%x, local 0x%x",
            request,
            remoteAddress,
            local.address() + localOffset);
    }

    /** Which check of local memory a request fails; null for none. */
    String localViolation(
        final int opcode,
        final MemoryRegion local,
        final long localOffset,
        final int lengthBytes)
    {
        if (!(local instanceof final TenantRegion region) || region.domain != domain)
        {
            return "the local region was not made from RaasContext.protectionDomain() of this context: " + local;
        }
        if (!region.isOpen())
        {
            return "the local region is closed";
        }
        final boolean isSource = opcode == StagedBatch.WRITE || opcode == StagedBatch.SEND;
        if (!isSource && (region.accessFlags & AccessFlags.LOCAL_WRITE) == 0)
        {
            return "the local region lacks LOCAL_WRITE, its rights are " + region.accessFlags;
        }
        return lengthBytes < 0 || localOffset < 0 || localOffset > region.lengthBytes - lengthBytes ?
            "outside of the local region of " + region.lengthBytes + " bytes" : null;
    }
}
