package io.verbena.server;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

class AuditFileTest
{
    private static final Instant START = Instant.parse("2026-11-24T20:00:00.123456Z");

    @TempDir
    private Path folder;

    private static Clock at(final Instant instant)
    {
        return Clock.fixed(instant, ZoneOffset.UTC);
    }

    private List<String> lines() throws IOException
    {
        return Files.readAllLines(folder.resolve(AuditFile.NAME));
    }

    private static Map<String, String> object(final String line) throws IOException
    {
        final Map<String, String> fields = new LinkedHashMap<>();
        try (JsonParser json = new JsonFactory().createParser(line))
        {
            while (null != json.nextToken())
            {
                if (JsonToken.FIELD_NAME == json.currentToken())
                {
                    final String name = json.currentName();
                    json.nextToken();
                    fields.put(name, json.getText());
                }
            }
        }
        return fields;
    }

    @Test
    void shouldWriteAnObjectALineThatOnlyItsOwnerReads() throws IOException
    {
        try (AuditFile audit = new AuditFile(folder, at(START), AuditFile.MAX_BYTES))
        {
            audit.record("putUser", "operator", "ann: read on table orders");
            audit.record("refused", "", "a \"quoted\"\nline\u0000 of somebody else's\u2028");
        }
        assertThat(lines()).hasSize(2);
        assertThat(lines().getFirst()).isEqualTo("{\"time\":\"2026-11-24T20:00:00.123Z\",\"event\":\"putUser\"," +
            "\"by\":\"operator\",\"subject\":\"ann: read on table orders\"}");
        assertThat(object(lines().getLast())).containsEntry("subject",
            "a \"quoted\"\nline\u0000 of somebody else's\u2028");
        assertThat(Files.getPosixFilePermissions(folder.resolve(AuditFile.NAME)))
            .isEqualTo(PosixFilePermissions.fromString("rw-------"));
        try (AuditFile audit = new AuditFile(folder, at(START), AuditFile.MAX_BYTES))
        {
            audit.record("joined", "", "memory node 1");
        }
        assertThat(lines()).as("goes on behind what is there").hasSize(3);
    }

    /** Who is refused without end neither fills the disk nor pushes out what is there. */
    @Test
    void shouldWriteSoManyRefusalsASecondAndCountTheRest() throws IOException
    {
        final Instant[] now = {START};
        final Clock clock = new Clock()
        {
            @Override
            public ZoneOffset getZone()
            {
                return ZoneOffset.UTC;
            }

            @Override
            public Clock withZone(final ZoneId zone)
            {
                return this;
            }

            @Override
            public Instant instant()
            {
                return now[0];
            }
        };
        try (AuditFile audit = new AuditFile(folder, clock, AuditFile.MAX_BYTES))
        {
            for (int i = 0; i < 1_000; i++)
            {
                audit.record("refused", "", "attempt " + i);
            }
            assertThat(lines()).hasSize(AuditFile.REFUSALS_PER_SECOND);
            audit.record("joined", "", "memory node 1");
            assertThat(object(lines().getLast())).containsEntry("event", "joined")
                .containsEntry("refusals_not_written", "980");
            for (int i = 0; i < 100; i++)
            {
                audit.record("denied", "user ann", "GET in table t");
            }
            assertThat(lines()).as("by themselves").hasSize(2 * AuditFile.REFUSALS_PER_SECOND + 1);
            audit.record("joined", "", "memory node 2");
            assertThat(object(lines().getLast())).containsEntry("denials_not_written", "80")
                .doesNotContainKey("refusals_not_written");
            now[0] = START.plusSeconds(1);
            audit.record("refused", "", "again");
            assertThat(object(lines().getLast())).containsEntry("subject", "again")
                .doesNotContainKey("refusals_not_written");
        }
    }

    @Test
    void shouldKeepOneFileBeforeThePresentOne() throws IOException
    {
        try (AuditFile audit = new AuditFile(folder, at(START), 1_000))
        {
            for (int i = 0; i < 40; i++)
            {
                audit.record("joined", "", "node " + i);
            }
        }
        final List<String> before = Files.readAllLines(folder.resolve(AuditFile.NAME + ".1"));
        assertThat(Files.size(folder.resolve(AuditFile.NAME))).isLessThanOrEqualTo(1_000);
        assertThat(Files.size(folder.resolve(AuditFile.NAME + ".1"))).isLessThanOrEqualTo(1_000);
        assertThat(object(lines().getLast())).containsEntry("subject", "node 39");
        assertThat(object(before.getLast()).get("subject"))
            .isEqualTo("node " + (39 - lines().size())); // none is missing between the two
    }

    @Test
    void shouldCutWhatIsTooLong() throws IOException
    {
        try (AuditFile audit = new AuditFile(folder, at(START), AuditFile.MAX_BYTES))
        {
            audit.record("refused", "", "x".repeat(100_000));
        }
        assertThat(lines().getFirst().getBytes(StandardCharsets.UTF_8).length).isLessThan(1_200);
    }

    /** A disk that fails takes lines, not the server. */
    @Test
    void shouldGoOnWhenALineCannotBeWritten() throws IOException
    {
        final AuditFile audit = new AuditFile(folder, at(START), AuditFile.MAX_BYTES);
        audit.close();
        audit.record("joined", "", "memory node 1");
        audit.record("joined", "", "memory node 2");
        assertThat(audit.lost()).isEqualTo(2);
        assertThat(lines()).isEmpty();
    }
}
