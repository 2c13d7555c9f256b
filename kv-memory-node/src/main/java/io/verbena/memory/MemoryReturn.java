package io.verbena.memory;

import io.verbena.memory.RegionAdoption.Kind;
import io.verbena.protocol.session.MetaLink;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.table.check.RegionReader;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.TableDescriptor;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * How a node comes by the memory that it had, before it becomes a member: finds it again, or restores the last
 * checkpoint, and walks it by the rules of a table check.
 *
 * <p>Who restores registers once before it asks for the tables. From then on the meta server refuses descriptors from
 * those who knew the memory as it was before, so that no table is made known that this one does not restore. That
 * registration admits nobody; its lease may end meanwhile. One thread; time comes in, but for how often a restore,
 * which is one long step, logs how far it is.
 */
final class MemoryReturn
{
    private static final Logger LOGGER = LoggerFactory.getLogger(MemoryReturn.class);
    private static final long REPORT_NS = TimeUnit.MILLISECONDS.toNanos(500);

    private final MemoryNodeConfiguration configuration;
    private final MemoryRegion region;
    private final ChunkTable chunks;
    private final Membership membership;
    private final AdoptionCheck check;
    private final RestoredGroups groups;
    private final MetaLink metaLink;
    /** Which groups name this node as a member, whose tables are restored, too; null before they are asked for. */
    private ViewInquiry views;
    private boolean isClaiming;
    private boolean hasRestored;
    private final NanoClock clock;
    private long shownNs;

    /**
     * @param kind       found, or to be restored.
     * @param reader     of the region.
     * @param membership not registered yet.
     * @param groups     hears what was restored of groups.
     */
    MemoryReturn(
        final Kind kind,
        final MemoryNodeConfiguration configuration,
        final MemoryRegion region,
        final RegionReader reader,
        final ChunkTable chunks,
        final MetaLink metaLink,
        final Membership membership,
        final RestoredGroups groups,
        final long nowNs)
    {
        this.groups = groups;
        this.metaLink = metaLink;
        clock = SystemNanoClock.INSTANCE;
        shownNs = clock.nanoTime();
        this.configuration = configuration;
        this.region = region;
        this.chunks = chunks;
        this.membership = membership;
        final boolean restores = Kind.TO_RESTORE == kind;
        isClaiming = registersFirst(kind);
        check = new AdoptionCheck(
            metaLink, reader, configuration, restores ? restore : (_) -> { }, nowNs);
    }

    /** Who has lost the memory is another incarnation before it asks for the tables: none is made known for it then. */
    private static boolean registersFirst(final Kind kind)
    {
        return Kind.TO_RESTORE == kind;
    }

    /** @return whether it is over; {@link #failure} says with which result. */
    boolean isDone()
    {
        return check.isDone() || isRefused();
    }

    /** @return what is wrong with the memory, or, before, why the meta server cannot be asked; empty: nothing. */
    String failure()
    {
        final boolean isAsking = null != views && !views.isDone();
        return isClaiming ? membership.failure() : isAsking ? views.failure() : check.failure();
    }

    /** @return whether the walk over the memory met no damage; once it is over. */
    boolean isWhole()
    {
        return failure().isEmpty();
    }

    /** @return what was found, for people. */
    String report()
    {
        return check.report();
    }

    /** @return damaged records that were accepted. */
    long damagedRecords()
    {
        return check.damagedRecords();
    }

    /** @return whether something in the memory is damaged, before it is accepted: not all that was written is there. */
    boolean isDamaged()
    {
        return 0 != chunks.damagedCount() || 0 != damagedRecords();
    }

    /** The node starts: damaged headers are replaced, and what is damaged is logged. */
    void acceptDamage()
    {
        final int headers = chunks.damagedCount();
        chunks.acceptDamaged(check.quarantinedIndexes());

        if (0 != headers)
        {
            LOGGER.warn("memory node {} found {} damaged chunk headers, as --accept-damage says: what is in the " +
                "chunks is served, and of {} chunks the memory is not used again; a table check lists them",
                configuration.folder().nodeId(), headers, chunks.quarantinedCount());
        }

        if (0 != damagedRecords())
        {
            LOGGER.warn("memory node {} serves memory with {} damaged records, as --accept-damage says: operations " +
                "on their keys fail with a typed error; a table check lists them", configuration.folder().nodeId(),
                damagedRecords());
        }
    }

    /** @return whether there are records of a checkpoint in the memory. */
    boolean hasRestored()
    {
        return hasRestored;
    }

    /** @return whether the meta server does not take it for a member, for good. */
    boolean isRefused()
    {
        return isClaiming && Membership.State.REFUSED == membership.state();
    }

    int poll(final long nowNs)
    {
        if (isClaiming)
        {
            final int workCount = membership.poll(nowNs);
            isClaiming = Membership.State.REGISTERING == membership.state() || isRefused();
            return workCount;
        }

        return check.poll(nowNs);
    }

    private final AdoptionCheck.Before restore = new AdoptionCheck.Before()
    {
        /** Also where no table has copies: of each group that waits for this node it is to be known what it has. */
        @Override
        public boolean isReady(final long nowNs)
        {
            if (null == views)
            {
                views = new ViewInquiry(
                    metaLink, configuration.callTimeoutNs(), configuration.retryPauseNs(), nowNs);
            }

            views.poll(nowNs);
            return views.isDone();
        }

        @Override
        public void accept(final List<TableDescriptor> tables)
        {
            restore(tables);
        }
    };

    private void restore(final List<TableDescriptor> tables)
    {
        final Superblock superblock = RegionLayout.superblock(configuration, configuration.folder().nodeId(), 0);
        final GroupRestore ofGroups = new GroupRestore(
            configuration.folder(), views.views(), groups, chunks);
        final long records = RegionAdoption.restore(region.segment(), superblock, configuration.folder(), ofGroups,
            tables, this::onRestored);
        hasRestored = true;
        LOGGER.warn("memory was gone: {} records restored from the last checkpoint, whatever was written later is lost",
            records);
    }

    /** Whoever started the node reads that in its log, and shows it. */
    private void onRestored(final long done, final long all)
    {
        final long nowNs = clock.nanoTime();

        if (nowNs - shownNs >= REPORT_NS)
        {
            shownNs = nowNs;
            LOGGER.info("restoring: {} of {} records", done, all);
        }
    }
}
