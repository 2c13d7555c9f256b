package io.verbena.server.metrics;

import java.util.List;
import java.util.Locale;
import java.util.Set;

import static io.verbena.server.metrics.Metric.Kind.COUNTER;
import static io.verbena.server.metrics.Metric.Kind.GAUGE;
import static io.verbena.server.metrics.Metric.Kind.HISTOGRAM;
import static io.verbena.server.metrics.Metric.Source.COMPUTE_NODE;
import static io.verbena.server.metrics.Metric.Source.MEMORY_NODE;
import static io.verbena.server.metrics.Metric.Source.META_SERVER;

/**
 * The catalogue of the metrics that Verbena's processes expose. Names follow the conventions of Prometheus: base units,
 * the unit in the name, {@code _total} behind what only grows. What only grows begins at 0 with its process.
 */
public enum Metric
{
    /** 1 while ready. */
    READY("verbena_ready", GAUGE, Set.of(COMPUTE_NODE, MEMORY_NODE, META_SERVER), List.of("role"),
        "1 while the process is ready, else 0."),
    /** Number of the node. */
    NODE_ID("verbena_node_id", GAUGE, Set.of(COMPUTE_NODE, MEMORY_NODE), List.of(),
        "Number of the node in its present registration; 0 before the first."),
    /** Incarnation of the node. */
    INCARNATION("verbena_node_incarnation", GAUGE, Set.of(COMPUTE_NODE, MEMORY_NODE), List.of(),
        "Incarnation of the node in its present registration."),
    /** Whether the meta server answers. */
    META_SERVER_REACHED("verbena_meta_server_reached", GAUGE, Set.of(COMPUTE_NODE, MEMORY_NODE), List.of(),
        "1 while the meta server answers the node, else 0; the lease of the node goes on running then."),
    /** Connections of a node. */
    CONNECTIONS("verbena_connections", GAUGE, Set.of(COMPUTE_NODE, MEMORY_NODE, META_SERVER), List.of("carrier"),
        "Connections to nodes and the meta server, by what carries them."),
    /** Unexpected failures. */
    FAILED_REQUESTS("verbena_unexpected_failures_total", COUNTER, Set.of(COMPUTE_NODE, MEMORY_NODE, META_SERVER),
        List.of(), "Requests that met what nobody expected; the log says what. Any is a defect."),
    /** Garbage of the Java heap. */
    ALLOCATED("verbena_heap_allocated_bytes_total", COUNTER, Set.of(COMPUTE_NODE, MEMORY_NODE, META_SERVER), List.of(),
        "Bytes that threads have allocated on the Java heap; operations on records allocate nothing."),
    /** Packets. */
    NETWORK_PACKETS("verbena_network_packets_total", COUNTER, Set.of(COMPUTE_NODE, MEMORY_NODE, META_SERVER),
        List.of("direction"), "Packets of RoCEv2 over UDP, sent or received. Absent on other fabrics, as those below."),
    /** Packets sent again. */
    NETWORK_RETRANSMITS("verbena_network_retransmits_total", COUNTER, Set.of(COMPUTE_NODE, MEMORY_NODE, META_SERVER),
        List.of(), "Packets sent again, because they or their answers were lost or late."),
    /** Answers that did not come. */
    NETWORK_TIMEOUTS("verbena_network_timeouts_total", COUNTER, Set.of(COMPUTE_NODE, MEMORY_NODE, META_SERVER),
        List.of(), "Times that no answer came, so that packets were sent again."),
    /** Packets dropped. */
    NETWORK_DROPS("verbena_network_drops_total", COUNTER, Set.of(COMPUTE_NODE, MEMORY_NODE, META_SERVER),
        List.of("reason"), "Packets dropped by this process: invalid (damaged, malformed, for nobody here) or " +
            "unsendable (no memory in the kernel, too long for the path, no route)."),
    /** Connections without the key. */
    REFUSED_UNSEALED_CONNECTIONS("verbena_refused_unsealed_connections_total", COUNTER,
        Set.of(COMPUTE_NODE, MEMORY_NODE, META_SERVER), List.of(), "Connections refused, and answers not taken, " +
            "because the peer did not prove the key that packets are sealed with: --encrypt. 0 without one."),
    /** Congestion. */
    NETWORK_CONGESTION("verbena_network_congestion_notifications_total", COUNTER,
        Set.of(COMPUTE_NODE, MEMORY_NODE, META_SERVER), List.of(),
        "Reports of peers that packets of this process met congestion."),
    /** What is used of limits. */
    LIMIT_TAKEN("verbena_limit_taken", GAUGE, Set.of(COMPUTE_NODE, MEMORY_NODE, META_SERVER), List.of("limit"),
        "What is taken of each limit, in the same unit; connections keep the requests and receives that they may " +
            "need."),
    /** Limits. */
    LIMIT("verbena_limit", GAUGE, Set.of(COMPUTE_NODE, MEMORY_NODE, META_SERVER), List.of("limit"),
        "The most of each limit: connections, requests, calls. status names the option that raises it."),

    /** Operations by kind and answer. */
    OPERATIONS("verbena_operations_total", COUNTER, Set.of(COMPUTE_NODE), List.of("kind", "answer"),
        "Operations answered, by kind and answer, whether or not they were begun."),
    /** How long operations took. */
    OPERATION_DURATION("verbena_operation_duration_seconds", HISTOGRAM, Set.of(COMPUTE_NODE), List.of("kind"),
        "Time from when the node took an operation that it began to its answer. The way of the client is not in it."),
    /** How long operations waited. */
    QUEUE_WAIT("verbena_queue_wait_seconds", HISTOGRAM, Set.of(COMPUTE_NODE), List.of(),
        "Time from when an operation on one record may have arrived at the node to when the node took it, at most. " +
            "Operations by Redis' protocol, and those of the same process, count as taken at once."),
    /** How long operations waited and took. */
    RESPONSE("verbena_response_seconds", HISTOGRAM, Set.of(COMPUTE_NODE), List.of(),
        "Time from when an operation on one record may have arrived at the node to its answer, at most: the queue " +
            "wait and the duration."),
    /** Work of the node's thread. */
    ENGINE_BUSY("verbena_engine_busy_seconds_total", COUNTER, Set.of(COMPUTE_NODE), List.of(),
        "Time in which the thread of the node worked, or had work and no processor; the rest it polled or slept."),
    /** Processor time of the node's thread. */
    ENGINE_PROCESSOR("verbena_engine_processor_seconds_total", COUNTER, Set.of(COMPUTE_NODE), List.of(),
        "Processor time that the thread of the node used, polling included."),
    /** Operations under way at a time. */
    OPERATION_SLOTS("verbena_operation_slots", GAUGE, Set.of(COMPUTE_NODE), List.of(),
        "Operations on records that can be under way at once; more wait."),
    /** Dependent round trips. */
    ROUND_TRIPS("verbena_round_trips_total", COUNTER, Set.of(COMPUTE_NODE), List.of("kind"),
        "Dependent round trips of finished operations on records."),
    /** Posted requests. */
    VERBS("verbena_verbs_total", COUNTER, Set.of(COMPUTE_NODE), List.of("verb"),
        "Requests posted to queue pairs."),
    /** Doorbells. */
    DOORBELLS("verbena_doorbells_total", COUNTER, Set.of(COMPUTE_NODE), List.of(),
        "Doorbells rung with at least one request."),
    /** Payload. */
    PAYLOAD("verbena_payload_bytes_total", COUNTER, Set.of(COMPUTE_NODE), List.of(),
        "Bytes that READ, WRITE and SEND carried, and 8 for each atomic."),
    /** Looks and swaps that had to be repeated. */
    RETRIES("verbena_operation_retries_total", COUNTER, Set.of(COMPUTE_NODE), List.of("reason"),
        "What operations did once more, by what was in the way."),
    /** Combined writers. */
    COMBINED_WRITES("verbena_combined_writes_total", COUNTER, Set.of(COMPUTE_NODE), List.of(),
        "Writes that took effect, or ended, with the compare-and-swap of another writer of their key at this node."),
    /** Slow operations. */
    SLOW_OPERATIONS("verbena_slow_operations_total", COUNTER, Set.of(COMPUTE_NODE), List.of(),
        "Operations on records that took --slowlog-threshold-us or longer; 'slowlog' says what they did."),
    /** Expired records. */
    EXPIRED_RECORDS("verbena_expired_records_removed_total", COUNTER, Set.of(COMPUTE_NODE), List.of(),
        "Records that operations of this node found behind their deadline and took away."),
    /** Expired records that nobody asked for. */
    EXPIRY_SWEPT("verbena_expired_records_swept_total", COUNTER, Set.of(COMPUTE_NODE), List.of(),
        "Records that the sweep of this node found behind their deadline and took away: nobody had asked for them."),
    /** What sweeps have read. */
    EXPIRY_SWEEP_READS("verbena_expiry_sweep_records_read_total", COUNTER, Set.of(COMPUTE_NODE), List.of(),
        "Records whose deadline the sweep has read."),
    /** Ranges of sweeps. */
    EXPIRY_SWEEP_RANGES("verbena_expiry_sweep_ranges_total", COUNTER, Set.of(COMPUTE_NODE), List.of("result"),
        "Ranges of at most 12 groups that the sweep was done with (swept), or ended before (left): a memory node " +
            "could not be reached, or too many marks of removals waited for an epoch."),
    /** Damage that sweeps have met. */
    EXPIRY_SWEEP_DAMAGED("verbena_expiry_sweep_damaged_total", COUNTER, Set.of(COMPUTE_NODE), List.of(),
        "Words and blocks that the sweep passed by since they were damaged, at each walk again; 'table check' names " +
            "them."),
    /** Cache of locations. */
    CACHE_LOOKUPS("verbena_location_cache_lookups_total", COUNTER, Set.of(COMPUTE_NODE), List.of("result"),
        "Operations that found the location of their key cached (hit, and of these stale), passed it by because the " +
            "key is often written (bypass), or began where the key was before (hint)."),
    /** Memory whose fate is unknown. */
    UNKNOWN("verbena_unknown_bytes", GAUGE, Set.of(COMPUTE_NODE), List.of(),
        "Bytes of blocks whose fate is unknown after a connection failed; a sweep finds them out."),
    /** Memory that a node holds. */
    HELD("verbena_held_bytes", GAUGE, Set.of(COMPUTE_NODE), List.of(),
        "Bytes of chunks that the node holds at all memory nodes."),
    /** Memory that waits for an epoch. */
    WAITING("verbena_waiting_bytes", GAUGE, Set.of(COMPUTE_NODE), List.of(),
        "Bytes of these that wait in quarantine until every compute node has passed an epoch."),
    /** Splits and merges that have ended. */
    GROWTH("verbena_growth_total", COUNTER, Set.of(COMPUTE_NODE), List.of("kind"),
        "Splits and merges of subtables that the node has brought to their ends."),
    /** Splits and merges under way. */
    GROWTH_UNDER_WAY("verbena_growth_under_way", GAUGE, Set.of(COMPUTE_NODE), List.of("kind"),
        "Splits and merges that the node works on now, one at a time."),
    /** Splits and merges that wait. */
    GROWTH_WAITING("verbena_growth_waiting", GAUGE, Set.of(COMPUTE_NODE), List.of("for"),
        "Splits and merges that the node is to begin or finish (turn), or that have ended and that the meta server " +
            "does not know yet (publication)."),
    /** Fill of tables. */
    TABLE_FILL("verbena_table_fill_ratio", GAUGE, Set.of(COMPUTE_NODE), List.of("table"),
        "Part of the slots of a table that hold a record, estimated from groups at random places; of the tables that " +
            "the node has open. A subtable is split when 0.85 are taken."),
    /** Subtables of tables. */
    TABLE_SUBTABLES("verbena_table_subtables", GAUGE, Set.of(COMPUTE_NODE), List.of("table"),
        "Subtables of a table, as the node knows it."),
    /** Sweeps. */
    SWEEPS("verbena_sweeps_total", COUNTER, Set.of(COMPUTE_NODE), List.of("state"),
        "Sweeps of the node's own chunks that were asked for, and of these those that ended."),
    /** Reachable memory nodes. */
    MEMORY_NODES_REACHED("verbena_memory_nodes_reached", GAUGE, Set.of(COMPUTE_NODE), List.of(),
        "Memory nodes that the node can use now."),
    /** Clients. */
    CLIENTS("verbena_clients", GAUGE, Set.of(COMPUTE_NODE, META_SERVER), List.of(), "Clients connected."),
    /** Room for clients. */
    CLIENTS_LIMIT("verbena_clients_limit", GAUGE, Set.of(COMPUTE_NODE), List.of(),
        "Clients that may be connected at once: --max-clients."),
    /** Refused clients. */
    REFUSED_CONNECTIONS("verbena_refused_connections_total", COUNTER, Set.of(COMPUTE_NODE, META_SERVER), List.of(),
        "Connections refused because there was no room for them."),
    /** Encrypted connections. */
    ENCRYPTED_CONNECTIONS("verbena_encrypted_connections", GAUGE, Set.of(COMPUTE_NODE), List.of(),
        "Connections of clients that are encrypted."),
    /** Refused connections in clear. */
    REFUSED_IN_CLEAR("verbena_refused_in_clear_total", COUNTER, Set.of(COMPUTE_NODE), List.of(),
        "Connections of clients refused because they were not encrypted: --encrypt of the node."),
    /** Refused messages. */
    REFUSED_MESSAGES("verbena_refused_messages_total", COUNTER, Set.of(COMPUTE_NODE), List.of(),
        "Messages on encrypted connections that were not the next ones of their clients; each ended its connection."),
    /** Connections that broke. */
    REPLACED_CONNECTIONS("verbena_replaced_connections_total", COUNTER, Set.of(COMPUTE_NODE), List.of(),
        "Connections to memory nodes that broke and were replaced, in the node's present session."),
    /** Requests posted again. */
    REPLAYED_REQUESTS("verbena_replayed_requests_total", COUNTER, Set.of(COMPUTE_NODE), List.of(),
        "Requests posted again after a connection broke, since they had no effect, in the present session."),
    /** Batches of unknown outcome. */
    UNKNOWN_OUTCOMES("verbena_unknown_outcomes_total", COUNTER, Set.of(COMPUTE_NODE), List.of(),
        "Batches of requests that may have had an effect or not when a connection broke, in the present session."),
    /** Refused handshakes. */
    REFUSED_HANDSHAKES("verbena_refused_handshakes_total", COUNTER, Set.of(META_SERVER), List.of(),
        "Handshakes at the address of the cluster that were refused, for a wrong token say."),
    /** Handshakes that the peer gave up. */
    ABANDONED_HANDSHAKES("verbena_abandoned_handshakes_total", COUNTER, Set.of(META_SERVER), List.of(),
        "Handshakes at the address of the cluster that the other side gave up: it died, was too slow, or only tried " +
            "the port."),

    /** Memory of a memory node. */
    MEMORY("verbena_memory_bytes", GAUGE, Set.of(MEMORY_NODE), List.of("use"),
        "Registered memory by what it is used for; orphan: its owner ended, and it is not reclaimed yet."),
    /** Damaged records. */
    DAMAGED_RECORDS("verbena_damaged_records", GAUGE, Set.of(MEMORY_NODE), List.of(),
        "Records found damaged in memory that the node took over; operations on them fail."),
    /** Quarantined chunks. */
    QUARANTINED_CHUNKS("verbena_quarantined_chunks", GAUGE, Set.of(MEMORY_NODE), List.of(),
        "Chunks that are not used again because their bytes cannot be trusted."),
    /** Time of the last checkpoint. */
    CHECKPOINT_FINISHED("verbena_checkpoint_finished_timestamp_seconds", GAUGE, Set.of(MEMORY_NODE), List.of(),
        "When the last good checkpoint was complete, as Unix time; absent before the first."),
    /** Duration of the last checkpoint. */
    CHECKPOINT_DURATION("verbena_checkpoint_duration_seconds", GAUGE, Set.of(MEMORY_NODE), List.of(),
        "How long the last good checkpoint took."),
    /** Size of the last checkpoint. */
    CHECKPOINT_RECORDS("verbena_checkpoint_records", GAUGE, Set.of(MEMORY_NODE), List.of(),
        "Records in the last good checkpoint."),
    /** Whether checkpoints fail. */
    CHECKPOINT_FAILING("verbena_checkpoint_failing", GAUGE, Set.of(MEMORY_NODE), List.of(),
        "1 while the last attempt to make a checkpoint has failed, else 0."),

    /** Epoch. */
    EPOCH("verbena_epoch", GAUGE, Set.of(META_SERVER), List.of(), "Epoch of the cluster."),
    /** Epoch that all have passed. */
    SAFE_EPOCH("verbena_safe_epoch", GAUGE, Set.of(META_SERVER), List.of(),
        "Epoch that every compute node has passed; memory let go of before it may be used again. A growing distance " +
            "to verbena_epoch means that a node holds it back; 0 while not known after a restart."),
    /** Who holds the epoch back. */
    PASSED_EPOCH("verbena_passed_epoch", GAUGE, Set.of(META_SERVER), List.of("node_id"),
        "Epoch that each compute node has passed, by its own word: the least of them is the safe epoch, and its node " +
            "the one that holds memory back."),
    /** Nodes by role. */
    NODES("verbena_nodes", GAUGE, Set.of(META_SERVER), List.of("role", "state"),
        "Nodes of the cluster: live, spare (a compute node that serves no clients before it is activated), lost (a " +
            "memory node whose lease ended and that did not come back) and fencing (a compute node without a lease " +
            "that a memory node may still let in)."),
    /** Leases. */
    LEASE_REMAINING("verbena_lease_remaining_seconds", GAUGE, Set.of(META_SERVER), List.of("role", "node_id"),
        "Time until the meta server takes the lease of each node as ended, which is half a second behind its end; 0 " +
            "once it has ended."),
    /** Tables. */
    TABLES("verbena_tables", GAUGE, Set.of(META_SERVER), List.of(), "Tables known by name."),
    /** Members of the group. */
    GROUP_MEMBERS("verbena_meta_group_members", GAUGE, Set.of(META_SERVER), List.of(),
        "Members of the group of meta servers, as this one knows it. Absent on a single meta server, as those below."),
    /** Term of the log. */
    GROUP_TERM("verbena_meta_group_term", GAUGE, Set.of(META_SERVER), List.of(),
        "Term of the group's log; grows with each election."),
    /** Lease of the leader. */
    GROUP_LEASE_REMAINING("verbena_meta_group_lease_remaining_seconds", GAUGE, Set.of(META_SERVER), List.of(),
        "For how long this member may act as the leader if the others are silent from now on; 0 while it follows."),
    /** Entries of the log. */
    GROUP_INDEX("verbena_meta_group_log_index", GAUGE, Set.of(META_SERVER), List.of("entry"),
        "Last entry of the group's log that is known here to be durable at a majority (committed), that is applied " +
            "here, and that is in the latest snapshot here; -1 before the first."),
    /** Syncs of the log. */
    GROUP_LOG_SYNCS("verbena_meta_group_log_syncs_total", COUNTER, Set.of(META_SERVER), List.of(),
        "Syncs of this member's log to its disk."),
    /** What is wrong with the group. */
    GROUP_UNHEALTHY("verbena_meta_group_unhealthy", GAUGE, Set.of(META_SERVER), List.of("reason"),
        "1 while the group is not healthy for a reason, as this member sees it, else 0: no_leader (for 5 s), " +
            "no_lease (elected for 5 s, and may not answer), unreachable (a member that the leader does not " +
            "reach), behind (a member that is 1,000 entries behind), log_failed and removed (of this member).");

    /** How a metric changes. */
    public enum Kind
    {
        /** Only grows, from 0 on, while its process lives. */
        COUNTER,
        /** A present value. */
        GAUGE,
        /** Counts by upper bound, with their sum. */
        HISTOGRAM;

        @Override
        public String toString()
        {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Which processes expose a metric. */
    public enum Source
    {
        /** Compute nodes. */
        COMPUTE_NODE,
        /** Memory nodes. */
        MEMORY_NODE,
        /** The meta server. */
        META_SERVER
    }

    private final String exposedName;
    private final Kind kind;
    private final Set<Source> sources;
    private final List<String> labels;
    private final String help;

    Metric(
        final String exposedName, final Kind kind, final Set<Source> sources, final List<String> labels,
        final String help)
    {
        this.exposedName = exposedName;
        this.kind = kind;
        this.sources = sources;
        this.labels = labels;
        this.help = help;
    }

    /** @return name on the page. */
    public String exposedName()
    {
        return exposedName;
    }

    /** @return how it changes. */
    public Kind kind()
    {
        return kind;
    }

    /** @return who exposes it. */
    public Set<Source> sources()
    {
        return sources;
    }

    /** @return names of its labels, in the order in which {@link Measurements} takes their values. */
    public List<String> labels()
    {
        return labels;
    }

    /** @return what it says, in full sentences. */
    public String help()
    {
        return help;
    }
}
