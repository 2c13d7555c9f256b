package io.verbena.raas;

import io.verbena.rdma.verbs.AccessFlags;

import java.util.List;

/** What a peer lets a connection reach, as it said at connect; immutable. */
final class PeerGrants
{
    /** What requests of one virtual queue pair are checked against, and the region that it reaches as a port. */
    static final class OfPort
    {
        private final RemoteRegion published;
        private PeerGrants ofChannel = PeerGrants.NONE;
        private PeerGrants checked = PeerGrants.NONE;
        private RemoteRegion region;

        /** @param published by the peer, for the port. */
        OfPort(final RemoteRegion published)
        {
            this.published = published;
            region = published;
        }

        /** What the peer has published for the port. */
        RemoteRegion published()
        {
            return published;
        }

        /** The region that is reached as a port. */
        RemoteRegion region()
        {
            return region;
        }

        PeerGrants checked()
        {
            return checked;
        }

        /** Whether these were made from other grants than the channel has. */
        boolean isStale(final PeerGrants now)
        {
            return now != ofChannel;
        }

        /**
         * The queue pair was connected, or replaced by another one.
         *
         * @return false: what was granted before is not granted any more.
         */
        boolean renew(final PeerGrants now)
        {
            final boolean isLost =
                ofChannel != PeerGrants.NONE && (checked != ofChannel || now.regions().isEmpty());
            ofChannel = now;
            checked = now;
            region = now.inPlaceOf(published);
            return !isLost;
        }

        /** From now on, until the queue pair is replaced, one region that was granted apart from the connection. */
        void reach(final PeerGrants now, final RemoteRegion apart)
        {
            ofChannel = now;
            checked = PeerGrants.of(apart);
            region = apart;
        }
    }

    static final PeerGrants NONE = new PeerGrants(new RemoteRegion[0], new int[0]);

    private final long[] addresses;
    private final long[] lengthsBytes;
    private final int[] remoteKeys;
    private final int[] accessFlags;
    private final List<RemoteRegion> regions;

    PeerGrants(final RemoteRegion[] regions, final int[] accessFlags)
    {
        this.regions = List.of(regions);
        this.accessFlags = accessFlags;
        addresses = new long[regions.length];
        lengthsBytes = new long[regions.length];
        remoteKeys = new int[regions.length];
        for (int i = 0; i < regions.length; i++)
        {
            addresses[i] = regions[i].address();
            lengthsBytes[i] = regions[i].lengthBytes();
            remoteKeys[i] = regions[i].remoteKey();
        }
    }

    /** Grants of one region with all rights. */
    static PeerGrants of(final RemoteRegion region)
    {
        return new PeerGrants(new RemoteRegion[]{region},
            new int[]{AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC});
    }

    List<RemoteRegion> regions()
    {
        return regions;
    }

    /**
     * What a region that the peer has published is to this connection: the same one where its key was granted, else
     * the first one granted with its length, under a key of this node's own.
     */
    RemoteRegion inPlaceOf(final RemoteRegion published)
    {
        for (final int remoteKey : remoteKeys)
        {
            if (remoteKey == published.remoteKey())
            {
                return published;
            }
        }
        for (final RemoteRegion region : regions)
        {
            if (region.lengthBytes() == published.lengthBytes())
            {
                return region;
            }
        }
        return published;
    }

    /** Whether a range was granted with a right. */
    boolean covers(final long address, final int lengthBytes, final int remoteKey, final int right)
    {
        for (int i = 0; i < remoteKeys.length; i++)
        {
            // Differences, not sums: addresses may lie at either end of the range of long.
            final long offset = address - addresses[i];
            if (remoteKeys[i] == remoteKey && offset >= 0 && offset <= lengthsBytes[i] - lengthBytes)
            {
                return (accessFlags[i] & right) == right;
            }
        }
        return false;
    }

    @Override
    public String toString()
    {
        final StringBuilder text = new StringBuilder("[");
        for (int i = 0; i < remoteKeys.length; i++)
        {
            text.append(i == 0 ? "" : ", ").append(String.format(
                "0x%x..0x%x key 0x%x rights %d",
                addresses[i],
                addresses[i] + lengthsBytes[i],
                remoteKeys[i],
                accessFlags[i]));
        }
        return text.append(']').toString();
    }
}
