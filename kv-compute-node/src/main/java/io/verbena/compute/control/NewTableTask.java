package io.verbena.compute.control;

import io.verbena.compute.catalog.TableRegistry;
import io.verbena.compute.session.SessionParts;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.TableEntry;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.ControlRequest.Status;
import io.verbena.protocol.request.TableReference;
import io.verbena.protocol.session.MetaLink;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.table.directory.TableCreator;
import io.verbena.table.directory.TablePlan;

import java.util.List;
import java.util.SplittableRandom;

/**
 * Creates a table: asks that the name is free, has memory leased, takes a table id, formats the memory one-sidedly, and
 * makes the table known. Whatever fails before the last step changes nothing but chunks, which go back, and an id,
 * which is not used again; where memory could not be reached, it begins again until the deadline. If the last answer is
 * lost, the meta server is asked who owns the name. Where the memory lies, and how it is leased, is for subclasses.
 *
 * <p>From the leases to the end of the formatting it holds the {@link CreationSlot}.
 */
abstract class NewTableTask extends ControlTask
{
    private enum Step
    {
        CHECK_NAME, LEASE, TAKE_ID, FORMAT, PUBLISH, RESOLVE
    }

    private final MetaLink metaLink;
    private final TableRegistry tables;
    private final SessionParts session;
    private final CreationSlot slot;
    private final long hashSeed;
    private Step step = Step.CHECK_NAME;
    private MetaRead<TableEntry> named;
    private MetaRead<Integer> id;
    private ControlCall<Void> publishCall;
    private TableCreator creator;
    private TableEntry entry;
    private int tableId;
    private long publishedNews;

    /**
     * @param slot   of the session.
     * @param random for the hash seed.
     */
    NewTableTask(
        final ControlRequest request, final SessionParts session, final TableRegistry tables, final CreationSlot slot,
        final SplittableRandom random, final long nowNs)
    {
        super(request);
        this.session = session;
        this.slot = slot;
        this.tables = tables;
        metaLink = session.metaLink();
        hashSeed = random.nextLong();
        named = whoHasTheName(nowNs);
    }

    private MetaRead<TableEntry> whoHasTheName(final long nowNs)
    {
        return new MetaRead<>(metaLink, (client, timeoutNs) -> client.table(request().tableName(), timeoutNs),
            request().deadlineNs(), nowNs);
    }

    /** Leases memory until {@link #onLeased}, or ends. @return work done. */
    abstract int pollLease(long nowNs);

    /** What was leased has gone back: {@link #pollLease} tries once more after a pause, until the deadline. */
    abstract void leaseLater(String why, long nowNs);

    /** @return the plan with all leased chunks in their places. */
    abstract TablePlan placed(int ofTableId);

    /**
     * @return whose memory it is and who has leased it, as they were when it was formatted; null when some of it went
     *     away meanwhile, see {@link #absence}.
     */
    abstract List<PeerIdentity> members();

    /** @return why there are no members, one line. */
    abstract String absence();

    /** What was leased goes back. */
    abstract void giveBack();

    /** The table has what was leased. */
    abstract void keep();

    final SessionParts session()
    {
        return session;
    }

    final long hashSeed()
    {
        return hashSeed;
    }

    /** @return whether this one may lease now; then it holds the slot. */
    final boolean mayLease()
    {
        return slot.tryTake(this);
    }

    /** Others may lease meanwhile. */
    final void giveSlotBack()
    {
        slot.giveBack(this);
    }

    final boolean isLeasing()
    {
        return Step.LEASE == step;
    }

    @Override
    final int poll(final long nowNs)
    {
        return switch (step)
        {
            case CHECK_NAME -> pollCheckName(nowNs);
            case LEASE -> pollLease(nowNs);
            case TAKE_ID -> pollTakeId(nowNs);
            case FORMAT -> pollFormat(nowNs);
            case PUBLISH -> pollPublish(nowNs);
            case RESOLVE -> pollResolve(nowNs);
        };
    }

    private int pollCheckName(final long nowNs)
    {
        if (!named.poll(nowNs))
        {
            return 0;
        }
        if (ControlStatus.OK == named.call().status())
        {
            end(Status.ALREADY_EXISTS, null, null);
        }
        else if (ControlStatus.NO_SUCH_TABLE != named.call().status())
        {
            endAs(named.call());
        }
        else
        {
            step = Step.LEASE;
        }
        return 1;
    }

    /** All memory is leased. */
    final void onLeased(final long nowNs)
    {
        id = new MetaRead<>(metaLink, (client, timeoutNs) -> client.allocateTableId(userNumber(), timeoutNs),
            request().deadlineNs(), nowNs);
        step = Step.TAKE_ID;
    }

    private int pollTakeId(final long nowNs)
    {
        if (!id.poll(nowNs))
        {
            return 0;
        }
        if (ControlStatus.OK != id.call().status())
        {
            giveBack();
            endAs(id.call());
            return 1;
        }
        tableId = id.call().result();
        final TablePlan plan = placed(tableId);
        if (plan.descriptor().encode().length > TableEntry.MAX_DESCRIPTOR_BYTES)
        {
            giveBack();
            end(Status.REFUSED, null, tooManySubtables(plan));
            return 1;
        }
        creator = session.engine().createTable(plan, request().deadlineNs());
        slot.onFormat(creator);
        step = Step.FORMAT;
        return 1;
    }

    /** @return what is wrong with a plan that no descriptor can name. */
    final String tooManySubtables(final TablePlan plan)
    {
        return "expectedRecords=" + request().expectedRecords() + " needs " + plan.subtableCount() +
            " subtables, more than a table of this version can name; expect fewer records, or use larger chunks";
    }

    private int pollFormat(final long nowNs)
    {
        if (!creator.isFinished())
        {
            return 0; // what it writes must have landed before the chunks can be somebody else's
        }
        slot.giveBack(this);
        if (TableCreator.State.FAILED == creator.state())
        {
            beginAgain(creator.failure(), nowNs);
            return 1;
        }
        publish(nowNs);
        return 1;
    }

    /** Nobody knows of the table yet. A connection that broke, as when a view of a group is closed, is back soon. */
    private void beginAgain(final String why, final long nowNs)
    {
        giveBack();
        creator = null;
        step = Step.LEASE;
        leaseLater(why, nowNs);
    }

    /** The table is made known only if its memory is still the one that was written. */
    private void publish(final long nowNs)
    {
        final List<PeerIdentity> members = members();
        if (null == members)
        {
            beginAgain(absence(), nowNs);
            return;
        }
        entry = new TableEntry(request().tableName(), tableId, creator.descriptor().encode());
        publishedNews = tables.news();
        publishCall = metaLink.client().createTable(entry, members, userNumber(), remainingNs(nowNs));
        step = Step.PUBLISH;
    }

    /** The meta server keeps the quota of tables: other nodes make some, too. */
    private int userNumber()
    {
        final PeerIdentity caller = request().caller();
        return null == caller ? 0 : caller.userNumber();
    }

    private int pollPublish(final long nowNs)
    {
        if (!publishCall.isDone())
        {
            return 0;
        }
        switch (publishCall.status())
        {
            case OK -> endCreated();
            case TIMED_OUT, PEER_FAILED, MALFORMED_REPLY ->
            {
                named = whoHasTheName(nowNs);
                step = Step.RESOLVE;
            }
            default ->
            {
                giveBack();
                endAs(publishCall);
            }
        }
        return 1;
    }

    private int pollResolve(final long nowNs)
    {
        if (!named.poll(nowNs))
        {
            return 0;
        }
        if (ControlStatus.OK == named.call().status() && tableId == named.call().result().tableId())
        {
            endCreated();
        }
        else
        {
            end(Status.OUTCOME_UNKNOWN, null, publishCall.failure());
        }
        return 1;
    }

    private void endCreated()
    {
        keep();
        tables.openIfFresh(entry, publishedNews);
        end(Status.OK, new TableReference(entry.name(), tableId), null);
    }

    @Override
    final boolean mayHaveChanged()
    {
        return Step.PUBLISH == step || Step.RESOLVE == step;
    }

    /** What was leased goes back if nothing was written there. */
    @Override
    final void onUnexpected()
    {
        if ((Step.LEASE == step || Step.TAKE_ID == step) && null == creator)
        {
            giveBackAnswered();
        }
    }

    /** As {@link #giveBack}, where every request for memory was answered. */
    abstract void giveBackAnswered();

    @Override
    final void onEnd()
    {
        slot.giveBack(this);
    }
}
