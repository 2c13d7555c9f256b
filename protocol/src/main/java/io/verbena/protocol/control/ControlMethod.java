package io.verbena.protocol.control;

/** Numbers of the methods in messages; those of memory nodes differ from those of the meta server. */
final class ControlMethod
{
    static final int REGISTER = 1;
    static final int HEARTBEAT = 2;
    static final int LEAVE = 3;
    static final int ALLOCATE_TABLE_ID = 4;
    static final int CREATE_TABLE = 5;
    static final int TABLE = 6;
    static final int TABLES = 7;
    static final int DROP_TABLE = 8;
    static final int NODES = 9;
    static final int AWAIT_CHANGE = 10;
    static final int GROW_TABLE = 11;
    static final int FORGET_NODE = 14;
    static final int DROP_THIS_TABLE = 15;
    static final int ACTIVATE = 16;
    static final int AWAIT_NODES = 17;
    static final int USERS = 18;
    static final int PUT_USER = 19;
    static final int REMOVE_USER = 20;
    static final int REPORT_DENIALS = 21;
    static final int REVOCATIONS = 22;
    static final int REVOKE_CERTIFICATE = 23;
    static final int RESTORE_CERTIFICATE = 24;
    static final int VIEWS = 25;
    static final int REPORT_RECONCILED = 26;
    static final int MAKE_GROUP = 27;
    static final int FAILURE_DOMAINS = 28;
    static final int ENTER_GROUP = 29;
    static final int REPORT_FILL = 30;
    static final int FILLS = 31;
    static final int REPORT_RESTORED = 32;

    static final int LEASE_CHUNKS = 101;
    static final int RETURN_CHUNKS = 102;
    static final int FENCE = 103;
    static final int STAT = 104;
    static final int CLAIM_CHUNKS = 105;
    static final int ADOPT_CHUNKS = 106;
    static final int MIRROR_CHUNK = 110;
    static final int CLOSE_VIEW = 111;
    static final int NAME_VIEWS = 112;
    static final int RECONCILER_KEY = 113;
    static final int ENTER_LEASE = 114;
    static final int PAGE_CHECKSUMS = 115;
    static final int FILL_VIEW = 116;

    private ControlMethod()
    {
    }

    static String name(final int method)
    {
        return switch (method)
        {
            case REGISTER -> "register";
            case HEARTBEAT -> "heartbeat";
            case LEAVE -> "leave";
            case ALLOCATE_TABLE_ID -> "allocateTableId";
            case CREATE_TABLE -> "createTable";
            case TABLE -> "table";
            case TABLES -> "tables";
            case DROP_TABLE -> "dropTable";
            case NODES -> "nodes";
            case AWAIT_CHANGE -> "awaitChange";
            case GROW_TABLE -> "growTable";
            case FORGET_NODE -> "forgetNode";
            case DROP_THIS_TABLE -> "dropThisTable";
            case ACTIVATE -> "activate";
            case AWAIT_NODES -> "awaitNodes";
            case USERS -> "users";
            case PUT_USER -> "putUser";
            case REMOVE_USER -> "removeUser";
            case REPORT_DENIALS -> "reportDenials";
            case REVOCATIONS -> "revocations";
            case REVOKE_CERTIFICATE -> "revokeCertificate";
            case RESTORE_CERTIFICATE -> "restoreCertificate";
            case VIEWS -> "views";
            case REPORT_RECONCILED -> "reportReconciled";
            case MAKE_GROUP -> "makeGroup";
            case FAILURE_DOMAINS -> "failureDomains";
            case ENTER_GROUP -> "enterGroup";
            case REPORT_FILL -> "reportFill";
            case FILLS -> "fills";
            case REPORT_RESTORED -> "reportRestored";
            case LEASE_CHUNKS -> "leaseChunks";
            case RETURN_CHUNKS -> "returnChunks";
            case FENCE -> "fence";
            case STAT -> "stat";
            case CLAIM_CHUNKS -> "claimChunks";
            case ADOPT_CHUNKS -> "adoptChunks";
            case MIRROR_CHUNK -> "mirrorChunk";
            case CLOSE_VIEW -> "closeView";
            case NAME_VIEWS -> "nameViews";
            case RECONCILER_KEY -> "reconcilerKey";
            case ENTER_LEASE -> "enterLease";
            case PAGE_CHECKSUMS -> "pageChecksums";
            case FILL_VIEW -> "fillView";
            default -> "unknown";
        };
    }
}
