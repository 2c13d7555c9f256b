package io.verbena.client;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** Each operation has exactly two forms, one that waits and one with a future; times are {@link Duration}s. */
class ApiFormsTest
{
    private static final String SUFFIX = "Async";
    /** What sends nothing, or has forms of its own. */
    private static final Set<String> NO_OPERATION = Set.of("name", "timeout", "withTimeout", "as", "bytes", "scan",
        "scanFrom", "stream", "connect", "statistics", "close", "toString");
    /** Of a typed table: what the table of bytes has. */
    private static final Set<String> BATCHES = Set.of("getAll", "putAll");

    @ParameterizedTest
    @ValueSource(classes = {KvTable.class, KvClient.class, KvTypedTable.class})
    void shouldHaveAFutureOfEachOperation(final Class<?> type)
    {
        final Map<String, String> waiting = new TreeMap<>();
        final Map<String, String> future = new TreeMap<>();
        for (final Method method : type.getDeclaredMethods())
        {
            if (!Modifier.isPublic(method.getModifiers()) || method.isSynthetic() || method.isDefault() ||
                NO_OPERATION.contains(method.getName()) ||
                KvTypedTable.class == type && BATCHES.contains(method.getName()))
            {
                continue;
            }
            final String parameters = Arrays.toString(method.getGenericParameterTypes());
            if (method.getName().endsWith(SUFFIX))
            {
                assertThat(method.getReturnType()).isEqualTo(CompletableFuture.class);
                final String result =
                    ((ParameterizedType)method.getGenericReturnType()).getActualTypeArguments()[0].getTypeName();
                future.put(method.getName().replace(SUFFIX, "") + parameters, result);
            }
            else
            {
                waiting.put(method.getName() + parameters, boxed(method.getGenericReturnType().getTypeName()));
            }
        }
        assertThat(waiting).hasSizeGreaterThanOrEqualTo(5).isEqualTo(future);
    }

    @Test
    void shouldTakeTimesAsDurationsAlone()
    {
        final Set<String> longs = Stream.of(KvTable.class, KvClient.class, KvTypedTable.class, KvClientOptions.class)
            .flatMap((type) -> Arrays.stream(type.getMethods()))
            .filter((method) -> Arrays.asList(method.getParameterTypes()).contains(long.class))
            .filter((method) -> Object.class != method.getDeclaringClass())
            .map(Method::getName).collect(Collectors.toCollection(TreeSet::new));
        assertThat(longs).as("expected versions, and amounts of counters").containsExactly(
            "delete", "deleteAsync", "increment", "incrementAsync", "replace", "replaceAsync");
    }

    private static String boxed(final String type)
    {
        return switch (type)
        {
            case "void" -> Void.class.getName();
            case "boolean" -> Boolean.class.getName();
            case "long" -> Long.class.getName();
            default -> type;
        };
    }
}
