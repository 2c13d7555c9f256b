package io.verbena.resp.command;

import io.verbena.protocol.request.RecordPage;
import io.verbena.protocol.request.RequestKind;
import io.verbena.resp.codec.RespDecoder;
import io.verbena.resp.codec.RespWriter;
import io.verbena.resp.session.Session;

import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Commands of cluster clients, where the node is a part of a cluster. Stateless. */
final class ClusterCommands
{
    private static final Map<String, Integer> ARITIES = Map.of("SLOTS", 2, "SHARDS", 2, "NODES", 2, "MYID", 2,
        "INFO", 2, "KEYSLOT", 3, "COUNTKEYSINSLOT", 3, "GETKEYSINSLOT", 4);
    private static final Set<String> REFUSED = Set.of("ADDSLOTS", "ADDSLOTSRANGE", "BUMPEPOCH",
        "COUNT-FAILURE-REPORTS", "DELSLOTS", "DELSLOTSRANGE", "FAILOVER", "FLUSHSLOTS", "FORGET", "LINKS", "MEET",
        "REPLICAS", "REPLICATE", "RESET", "SAVECONFIG", "SET-CONFIG-EPOCH", "SETSLOT", "SLAVES");
    private static final String DISABLED = "ERR This instance has cluster support disabled";

    /** Walks over the table for the keys of a slot: how many, or which. */
    private static final class SlotKeys extends ScanTask
    {
        private final int slot;
        private final long limit;
        private final RespWriter keys;
        private long found;

        /** @param keys takes the keys; null: they are counted only. */
        SlotKeys(final Session session, final int slot, final long limit, final RespWriter keys)
        {
            super(session, RequestKind.SCAN, 0);
            this.slot = slot;
            this.limit = limit;
            this.keys = keys;
        }

        @Override
        protected boolean take(final Session session, final byte[] page, final long next)
        {
            for (int at = 0; at < page.length && found < limit;)
            {
                final int keyLength = RecordPage.keyLength(page, at);
                if (slot == HashSlot.of(page, at + RecordPage.KEY_OFFSET, keyLength))
                {
                    found++;
                    if (null != keys)
                    {
                        keys.bulk(page, at + RecordPage.KEY_OFFSET, keyLength);
                    }
                }
                at += RecordPage.KEY_OFFSET + keyLength + RecordPage.valueLength(page, at);
            }
            return found < limit && (null == keys || !keys.isOverflown());
        }

        @Override
        protected void reply(final Session session)
        {
            if (null == keys)
            {
                session.writer().number(found);
            }
            else
            {
                session.writer().array(found);
                session.writer().append(keys);
                keys.close();
            }
        }

        @Override
        public void onClosed(final Session session)
        {
            if (null != keys)
            {
                keys.close();
            }
        }
    }

    private ClusterCommands()
    {
    }

    private static boolean isCluster(final Session session)
    {
        final boolean isCluster = session.worker().settings().isCluster();
        if (!isCluster)
        {
            session.writer().error(DISABLED);
        }
        return isCluster;
    }

    static void cluster(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        final boolean isRefused = REFUSED.contains(arguments.text(1).toUpperCase(Locale.ROOT));
        // Redis looks at the form of a command first.
        if (!isRefused && !Subcommands.is(session, ARITIES) || !isCluster(session))
        {
            return;
        }
        if (isRefused)
        {
            session.writer().error("ERR CLUSTER " + arguments.text(1).toUpperCase(Locale.ROOT) +
                " is not supported: nodes join and leave by the meta server");
            return;
        }
        switch (arguments.text(1).toUpperCase(Locale.ROOT))
        {
            case "KEYSLOT" -> keySlot(session);
            case "COUNTKEYSINSLOT" -> slotKeys(session, false);
            case "GETKEYSINSLOT" -> slotKeys(session, true);
            case final String form -> session.begin(new ClusterTask(ClusterTask.Form.valueOf(form)));
        }
    }

    private static void keySlot(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        if (arguments.isKept(2))
        {
            session.writer().number(
                HashSlot.of(arguments.array(), arguments.offset(2), arguments.length(2)));
        }
        else
        {
            session.writer().error(session.keyRefusal(2));
        }
    }

    private static void slotKeys(final Session session, final boolean areListed)
    {
        final RespDecoder arguments = session.arguments();
        if (!Arguments.isNumber(arguments, 2) || areListed && !Arguments.isNumber(arguments, 3))
        {
            session.writer().error(Arguments.NO_INTEGER);
            return;
        }
        final long slot = Arguments.number(arguments, 2);
        final long limit = areListed ? Arguments.number(arguments, 3) : Long.MAX_VALUE;
        if (slot < 0 || slot >= HashSlot.COUNT || limit < 0)
        {
            session.writer().error(areListed ? "ERR Invalid slot or number of keys" : "ERR Invalid slot");
        }
        else if (session.hasTable())
        {
            session.begin(new SlotKeys(session, (int)slot, limit, areListed ? session.spareWriter() : null));
        }
    }

    /** READONLY, READWRITE, ASKING: each node serves all keys for reading and writing anyhow. */
    static void accept(final Session session)
    {
        if (isCluster(session))
        {
            session.writer().ok();
        }
    }
}
