package io.verbena.cli.training;

import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.cluster.LocalCluster;
import io.verbena.cli.cluster.NodeLauncher;
import io.verbena.cli.cluster.TemporaryCluster;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The run that an AOT cache is made from: a compute node, a process of its own as ever, joins a small cluster, serves
 * each kind of request, and ends, while its JVM records what it loaded and ran. Stateless.
 */
public final class CacheTraining
{
    private static final int MEMORY_MIB = 32;
    private static final int RECORDS = 300;
    /** Main class of the node: by its name, because it knows the whole command, of which this is a part. */
    private static final String NODE_MAIN = "io.verbena.cli.TrainingRun";
    /**
     * Without how often methods were called: each start would compile the most called at once, when its processors have
     * enough to do. On two of them that makes it a fifth longer.
     */
    private static final List<String> FLAGS = List.of("-XX:+UnlockDiagnosticVMOptions", "-XX:-AOTRecordTraining");
    private static final int GROUP = 50;
    private static final int VALUE_BYTES = 100;
    /** Below the launcher's limit for all of it, 120 s, with the ends of the processes. */
    private static final long READY_TIMEOUT_S = 20;
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    /** How the names of the folders begin. */
    static final String PREFIX = "verbena-training-";

    private CacheTraining()
    {
    }

    /**
     * Runs it.
     *
     * @param configuration file that the JVM records to, for {@code java -XX:AOTMode=create}.
     */
    public static void run(final Path configuration)
    {
        try (TemporaryCluster temporary = TemporaryCluster.create(PREFIX))
        {
            try
            {
                record(temporary.open(), temporary.folder(), configuration);
            }
            catch (final RuntimeException ex)
            {
                temporary.throwIfEnding(ex);
                throw ex;
            }
        }
    }

    private static void record(final LocalCluster cluster, final ClusterFolder folder, final Path configuration)
    {
        cluster.readyTimeoutS(READY_TIMEOUT_S);
        cluster.up(LocalCluster.ANY_PORT, 1, MEMORY_MIB, 0, (line) -> {});
        final List<String> flags = new ArrayList<>(FLAGS);
        flags.addAll(List.of(NodeLauncher.RECORD_FLAG, "-XX:AOTConfiguration=" + configuration));
        cluster.jvmFlags(flags);
        // As each node starts; the library for command lines, which the other commands start with, it runs besides.
        cluster.mainClass(NODE_MAIN);
        cluster.scale(1, (line) -> {});
        try (KvClient client = KvClient.connect(
            folder.address(), new KvClientOptions().tokenFile(folder.token()).timeout(TIMEOUT)))
        {
            use(client);
        }
        cluster.scale(0, (line) -> {});
        if (!Files.exists(configuration))
        {
            throw new CommandFailedException(ExitStatus.FAILED, "the JVM recorded nothing in " + configuration, null);
        }
    }

    private static void use(final KvClient client)
    {
        final KvTable table = client.createTable("training", new TableOptions(2 * RECORDS));
        final List<byte[]> keys = new ArrayList<>();
        final List<byte[]> values = new ArrayList<>();
        for (int i = 0; i < RECORDS; i++)
        {
            keys.add(("key-" + i).getBytes());
            values.add(new byte[VALUE_BYTES]);
        }
        for (int i = 0; i < RECORDS; i += GROUP)
        {
            table.withTimeout(TIMEOUT).putAll(keys.subList(i, i + GROUP), values.subList(i, i + GROUP));
        }
        for (int i = 0; i < RECORDS; i++)
        {
            table.get(keys.get(i));
        }
        for (int i = 0; i < GROUP; i++)
        {
            final long version = table.put(keys.get(i), values.get(i));
            table.replace(keys.get(i), values.get(i), version);
            table.exists(keys.get(i));
            table.delete(keys.get(i));
            table.putIfAbsent(keys.get(i), values.get(i));
        }
        table.scan().iterator().next();
    }
}
