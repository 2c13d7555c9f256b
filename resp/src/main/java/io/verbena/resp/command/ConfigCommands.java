package io.verbena.resp.command;

import io.verbena.resp.codec.RespDecoder;
import io.verbena.resp.session.Session;
import io.verbena.resp.session.SessionSettings;
import io.verbena.resp.session.SlowOperations;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** CONFIG: what is asked for, as it is here; nothing can be changed. Stateless. */
final class ConfigCommands
{
    private static final Map<String, Integer> ARITIES = Map.of("GET", -3, "SET", -4, "REWRITE", 2);
    private static final String OFF = "no";

    private ConfigCommands()
    {
    }

    static void config(final Session session)
    {
        if (!Subcommands.is(session, ARITIES))
        {
            return;
        }
        if (Arguments.is(session.arguments(), 1, "GET"))
        {
            get(session);
        }
        else if (Arguments.is(session.arguments(), 1, "SET"))
        {
            set(session);
        }
        else
        {
            session.writer().error("ERR The server is running without a config file");
        }
    }

    private static void get(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        final Map<String, String> settings = settings(session);
        final Map<String, String> found = new TreeMap<>();
        for (int i = 2; i < arguments.count(); i++)
        {
            final GlobPattern pattern = new GlobPattern(
                arguments.text(i).toLowerCase(Locale.ROOT).getBytes(StandardCharsets.ISO_8859_1));
            settings.forEach((name, value) ->
            {
                if (pattern.matches(name.getBytes(StandardCharsets.US_ASCII), 0, name.length()))
                {
                    found.put(name, value);
                }
            });
        }
        session.writer().map(found.size());
        found.forEach((name, value) ->
        {
            session.writer().bulk(name);
            session.writer().bulk(value);
        });
    }

    /** Tools set what they have read before: that changes nothing, so it is no error. */
    private static void set(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        if (0 != arguments.count() % 2)
        {
            session.writer().error(Arguments.SYNTAX_ERROR);
            return;
        }
        final Map<String, String> settings = settings(session);
        for (int i = 2; i < arguments.count(); i += 2)
        {
            final String name = arguments.text(i).toLowerCase(Locale.ROOT);
            final String value = settings.get(name);
            if (null == value)
            {
                session.writer().error(
                    "ERR Unknown option or number of arguments for CONFIG SET - '" + arguments.text(i) + "'");
                return;
            }
            if (!value.equalsIgnoreCase(arguments.text(i + 1)))
            {
                session.writer().error("ERR CONFIG SET failed (possibly related to argument '" + name +
                    "') - can't set immutable config: it is '" + value + "', see the options of the node");
                return;
            }
        }
        session.writer().ok();
    }

    /** What tools ask for. The password is nobody's to read. */
    private static Map<String, String> settings(final Session session)
    {
        final SessionSettings node = session.worker().settings();
        final Map<String, String> settings = new TreeMap<>();
        settings.put("save", "");
        settings.put("appendonly", OFF);
        settings.put("appendfsync", OFF);
        settings.put("maxmemory", "0");
        settings.put("maxmemory-policy", "noeviction");
        settings.put("databases", "1");
        settings.put("proto-max-bulk-len", "16384");
        settings.put("cluster-enabled", node.isCluster() ? "yes" : OFF);
        settings.put("port", String.valueOf(session.worker().port().port()));
        settings.put("maxclients", String.valueOf(session.worker().port().maxConnections()));
        settings.put("maxmemory-clients", String.valueOf(session.worker().port().maxBufferBytes()));
        settings.put("client-output-buffer-limit", "normal " + node.maxOutputBytes() + " 0 0");
        settings.put("client-query-buffer-limit", String.valueOf(node.maxCommandBytes()));
        settings.put("timeout", "0");
        settings.put("tcp-keepalive", String.valueOf(TimeUnit.MINUTES.toSeconds(5)));
        settings.put("requirepass", "");
        settings.put("notify-keyspace-events", "");
        final SlowOperations slow = session.worker().port().slowLog().operations();
        final boolean isNoneSlow = SlowOperations.NEVER == slow.thresholdNs();
        settings.put("slowlog-log-slower-than",
            isNoneSlow ? "-1" : String.valueOf(TimeUnit.NANOSECONDS.toMicros(slow.thresholdNs())));
        settings.put("slowlog-max-len", String.valueOf(slow.capacity()));
        settings.put("latency-monitor-threshold",
            isNoneSlow ? "0" : String.valueOf(TimeUnit.NANOSECONDS.toMillis(slow.thresholdNs())));
        settings.put("lazyfree-lazy-user-flush", OFF);
        settings.put("activerehashing", OFF);
        return settings;
    }
}
