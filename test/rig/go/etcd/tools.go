//go:build tools

// Package tools pins the etcd server that the tests run for real.
package tools

import _ "go.etcd.io/etcd/server/v3"
