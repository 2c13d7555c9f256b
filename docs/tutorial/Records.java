import io.verbena.client.KvClient;
import io.verbena.client.KvCodec;
import io.verbena.client.KvRecord;
import io.verbena.client.KvScan;
import io.verbena.client.KvTable;
import io.verbena.client.KvTimeoutException;
import io.verbena.client.KvTypedTable;
import io.verbena.embedded.EmbeddedCluster;
import io.verbena.embedded.Verbena;

import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Text, deadlines, futures and scans, in a cluster inside this process. */
public final class Records
{
    private Records()
    {
    }

    /**
     * Runs the program.
     *
     * @param args none.
     */
    public static void main(final String[] args)
    {
        try (EmbeddedCluster cluster = Verbena.embedded())
        {
            run(cluster.client(), System.out);
        }
    }

    static void run(final KvClient client, final PrintStream out)
    {
        final KvTable bytes = client.createTable("users");
        final KvTypedTable<String, String> users = bytes.as(KvCodec.UTF_8, KvCodec.UTF_8);

        // Text.
        users.put("ada", "Lovelace");
        users.putIfAbsent("grace", "Hopper");
        out.println("ada is " + users.get("ada").orElseThrow());

        // A handle with another deadline: make it once, use it often. 1 ns is too short for anything.
        try
        {
            users.withTimeout(Duration.ofNanos(1)).put("ada", "King");
        }
        catch (final KvTimeoutException ex)
        {
            out.println("not applied: ada is still " + users.get("ada").orElseThrow());
        }

        // Futures: a thousand at once. What depends on one may block.
        final List<CompletableFuture<Long>> puts = new ArrayList<>();
        for (int i = 0; i < 1_000; i++)
        {
            puts.add(users.putAsync("user-" + i, "number " + i));
        }
        puts.forEach(CompletableFuture::join);

        // A scan can be left at any time, and resumed where it was left: here, or in another process.
        final KvScan.Records scan = bytes.scan().iterator();
        int records = 0;
        while (records < 300)
        {
            scan.next();
            records++;
        }
        for (final KvRecord record : bytes.scanFrom(scan.cursor()))
        {
            records += record.key().length > 0 ? 1 : 0;
        }
        out.println(records + " records");
    }
}
