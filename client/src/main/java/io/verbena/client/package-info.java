/**
 * What an application imports: {@link io.verbena.client.KvClient}, {@link io.verbena.client.KvTable}, their options,
 * results and exceptions. {@link io.verbena.client.KvClient#connect(String)} opens a client; all else begins there.
 * Classes of other packages are not for applications, and change without notice.
 */
package io.verbena.client;
