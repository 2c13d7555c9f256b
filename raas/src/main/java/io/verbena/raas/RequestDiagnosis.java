package io.verbena.raas;

import io.verbena.raas.batch.StagedBatch;
import io.verbena.raas.region.TenantRegion;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;

/** Says which check a request failed; off the hot path, where one condition covers all checks. */
final class RequestDiagnosis
{
    private RequestDiagnosis()
    {
    }

    static String violation(
        final ContextResources resources,
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
        final int maxMessageBytes = resources.maxMessageBytes();
        if (lengthBytes < 0 || lengthBytes > maxMessageBytes)
        {
            return request + ": the length must be 0 to " + maxMessageBytes;
        }
        final String localViolation = localViolation(resources, opcode, local, localOffset, lengthBytes);
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

    private static String localViolation(
        final ContextResources resources,
        final int opcode,
        final MemoryRegion local,
        final long localOffset,
        final int lengthBytes)
    {
        if (!(local instanceof final TenantRegion region) || region.domain != resources.tenantProtectionDomain())
        {
            return "the local region was not made from RaasContext.protectionDomain() of this context: " + local;
        }
        if (!region.isOpen())
        {
            return "the local region is closed";
        }
        if (opcode != StagedBatch.WRITE && (region.accessFlags & AccessFlags.LOCAL_WRITE) == 0)
        {
            return "the local region lacks LOCAL_WRITE, its rights are " + region.accessFlags;
        }
        return localOffset < 0 || localOffset > region.lengthBytes - lengthBytes ?
            "outside of the local region of " + region.lengthBytes + " bytes" : null;
    }
}
