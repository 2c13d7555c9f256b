package io.verbena.protocol.request;

import io.verbena.protocol.access.Grant;
import io.verbena.protocol.access.TableRight;
import io.verbena.protocol.access.UserRights;

/** A rare request about tables or the node itself. Submitted as an {@link OperationRequest} is; used once. */
public abstract class ControlRequest extends NodeRequest
{
    /** What is asked for. */
    public enum Kind
    {
        /** The {@link TableReference} of an existing table. */
        FIND_TABLE,
        /** Making a table; answers with its {@link TableReference}. */
        CREATE_TABLE,
        /** Dropping a table. */
        DROP_TABLE,
        /** Names of all tables, a {@code List<String>}. */
        LIST_TABLES,
        /** Forgetting a table that was dropped through another node. */
        FORGET_TABLE,
        /** What this node has posted on the fabric, a {@link io.verbena.rdma.verbs.VerbCounters}. */
        VERB_COUNTERS,
        /** Every range of memory that this node holds, a {@code NodeSpace}: for checks, it may be long. */
        SPACE,
        /** Begins to reclaim what no word names in this node's own chunks. */
        SWEEP,
        /** How much memory this node holds, a {@code SpaceFigures}: may be asked for often. */
        SPACE_FIGURES,
        /** The nodes that serve clients over TCP, {@link ServingNodes}: as of the node's last list, without a call. */
        SERVING_NODES;

        /** @return whether the answer is an object of the node's own process, not to be sent elsewhere. */
        public boolean isLocal()
        {
            return VERB_COUNTERS == this || SPACE == this || SPACE_FIGURES == this || SERVING_NODES == this;
        }

        /** @return whether it is about one table, whose name it carries. */
        public boolean namesTable()
        {
            return LIST_TABLES != this && SWEEP != this && !isLocal();
        }
    }

    /** How it ended. */
    public enum Status
    {
        /** As asked. */
        OK,
        /** No such table. */
        NOT_FOUND,
        /** There is a table of this name already. */
        ALREADY_EXISTS,
        /** No memory for the table. */
        NO_MEMORY,
        /** Refused for another reason; nothing was changed. */
        REFUSED,
        /** The deadline passed before anything was changed. */
        TIMED_OUT,
        /** It may have been done, or not. */
        OUTCOME_UNKNOWN,
        /** This node does not serve now; not begun. */
        NOT_SERVING,
        /** The caller has no right to that; not begun. */
        PERMISSION_DENIED,
        /** The caller has as many tables as its quota allows; nothing was changed. */
        QUOTA_EXCEEDED
    }

    private final Kind kind;
    private final String tableName;
    private final long expectedRecords;
    private final int copies;
    private final long deadlineNs;
    private UserRights rights;
    private Status status;
    private Object result;
    private String detail;

    /**
     * @param kind            what is asked for.
     * @param tableName       of the table, or null where none is meant.
     * @param expectedRecords for CREATE_TABLE, else 0.
     * @param deadlineNs      on the fabric's clock.
     */
    protected ControlRequest(
        final Kind kind, final String tableName, final long expectedRecords, final long deadlineNs)
    {
        this(kind, tableName, expectedRecords, 1, deadlineNs);
    }

    /**
     * As the other one.
     *
     * @param copies of a table to be made, each on another memory node; 1 to {@link RequestLimits#MAX_COPIES}.
     */
    protected ControlRequest(
        final Kind kind, final String tableName, final long expectedRecords, final int copies, final long deadlineNs)
    {
        this.kind = kind;
        this.tableName = tableName;
        this.expectedRecords = expectedRecords;
        this.copies = copies;
        this.deadlineNs = deadlineNs;
    }

    /** @return what is asked for. */
    public final Kind kind()
    {
        return kind;
    }

    /** @return the table meant, or null. */
    public final String tableName()
    {
        return tableName;
    }

    /** @return records the table is to hold. */
    public final long expectedRecords()
    {
        return expectedRecords;
    }

    /** @return copies that the table is to have, each on another memory node. */
    public final int copies()
    {
        return copies;
    }

    /** @return when it must be over, on the fabric's clock. */
    public final long deadlineNs()
    {
        return deadlineNs;
    }

    /**
     * Takes what the caller may do. By the node, before it begins.
     *
     * @param ofCaller null: everything.
     * @return whether that includes this request.
     */
    public final boolean isAllowed(final UserRights ofCaller)
    {
        rights = ofCaller;
        return null == ofCaller || switch (kind)
        {
            case LIST_TABLES -> true;
            case FIND_TABLE -> ofCaller.allowsAny(TableRight.ALL, tableName);
            case CREATE_TABLE, DROP_TABLE, FORGET_TABLE -> ofCaller.allowsAny(TableRight.ADMIN.bit(), tableName);
            default -> ofCaller.allowsAny(TableRight.ADMIN.bit(), Grant.ALL_TABLES);
        };
    }

    /** @return whether the caller may know of a table; once {@link #isAllowed} was asked. */
    public final boolean mayName(final String table)
    {
        return null == rights || rights.allowsAny(TableRight.ALL, table);
    }

    /** @return how it ended; valid when DONE, as all that follows. */
    public final Status status()
    {
        return status;
    }

    /** @return what {@link Kind} promises when OK, else null. */
    public final Object result()
    {
        return result;
    }

    /** @return one line of facts when not OK, else null. */
    public final String detail()
    {
        return detail;
    }

    /**
     * Fills the answer; by the node, while it owns the request.
     *
     * @param status how it ended.
     * @param result what {@link Kind} promises when OK, else null.
     * @param detail one line of facts when not OK, else null.
     */
    public final void answer(final Status status, final Object result, final String detail)
    {
        this.status = status;
        this.result = result;
        this.detail = detail;
    }

    @Override
    public String toString()
    {
        return "ControlRequest{kind=" + kind + ", table=" + tableName + ", state=" + state() + ", status=" + status +
            '}';
    }
}
